#include "text/compare_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "text/answer.h"
#include "text/progress_bar.h"

namespace ration::cli {
namespace {

std::string in_words(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", std::ceil(seconds));
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

std::string progress_line(const compare::CompareProgress& progress, double seconds_so_far) {
  const auto here = static_cast<double>(progress.done - progress.done_before);
  const auto left = static_cast<double>(progress.total - progress.done);
  const double share =
      progress.total == 0 ? 1 : static_cast<double>(progress.done) / static_cast<double>(progress.total);
  return fmt::format("{} of {} jobs {}{}  {} {} {}", progress.done, progress.total, bar(share, 24),
                     here > 0 ? "  " + in_words(seconds_so_far / here * left) + " left" : "",
                     progress.running.data, progress.running.model, progress.running.method);
}

CompareProgressBar::CompareProgressBar(bool wanted)
    : shown_(wanted && isatty(STDERR_FILENO) == 1), start_(now_in_seconds()) {}

CompareProgressBar::~CompareProgressBar() {
  if (dirty_) fmt::print(stderr, "\r\033[K");
}

// Ten times a second is enough for the eye.
void CompareProgressBar::show(const compare::CompareProgress& progress) {
  if (!shown_) return;
  const double now = now_in_seconds();
  if (now - last_ < 0.1) return;
  last_ = now;
  dirty_ = true;
  fmt::print(stderr, "\r\033[K{}", progress_line(progress, now - start_));
  std::fflush(stderr);
}

}  // namespace ration::cli
