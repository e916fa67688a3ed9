#include "text/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "text/answer.h"

namespace ration::cli {

std::string bar(double share, std::size_t width) {
  const double part = std::clamp(share, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(std::round(part * static_cast<double>(width)));
  return fmt::format("[{}{}] {:3.0f} %", std::string(full, '#'), std::string(width - full, '-'), 100 * part);
}

ProgressBar::ProgressBar(bool wanted) : shown_(wanted && isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (dirty_) fmt::print(stderr, "\r\033[K");
}

// Ten times a second is enough for the eye.
void ProgressBar::on_step(const Progress& progress) {
  if (!shown_) return;
  const double now = now_in_seconds();
  if (progress.charged != progress.total && now - last_ < 0.1) return;
  last_ = now;
  dirty_ = true;
  const std::string total = progress.total > 0 ? fmt::format(" of {}", progress.total) : "";
  fmt::print(stderr, "\r\033[Kstep {}{}  budget spent {}", progress.charged, total,
             bar(progress.budget_share, 30));
  std::fflush(stderr);
}

CountingBar::CountingBar(bool wanted, std::string what)
    : shown_(wanted && isatty(STDERR_FILENO) == 1), what_(std::move(what)) {}

CountingBar::~CountingBar() {
  if (dirty_) fmt::print(stderr, "\r\033[K");
}

void CountingBar::show(std::size_t done, std::size_t total) {
  if (!shown_) return;
  const double now = now_in_seconds();
  if (now - last_ < 0.1) return;
  last_ = now;
  dirty_ = true;
  const double share = total == 0 ? 1 : static_cast<double>(done) / static_cast<double>(total);
  fmt::print(stderr, "\r\033[K{} of {} {} {}", done, total, what_, bar(share, 30));
  std::fflush(stderr);
}

}  // namespace ration::cli
