#include "train/progress_file.h"

#include <fmt/format.h>

#include <filesystem>

namespace ration {
namespace {

constexpr const char* kHeader = "step,learning_rate,gradient_norm,noise_stddev,budget_share\n";

// The header and up to `lines` lines.
std::string first_lines(const std::string& text, std::int64_t lines) {
  std::size_t end = text.find('\n');
  for (std::int64_t line = 0; line < lines && end != std::string::npos; ++line)
    end = text.find('\n', end + 1);
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

}  // namespace

ProgressFile ProgressFile::of(const RunFolder& folder, std::int64_t steps) {
  if (steps == 0 || !std::filesystem::exists(folder.file("progress.csv"))) return ProgressFile(kHeader);
  return ProgressFile(first_lines(folder.read("progress.csv"), steps));
}

void ProgressFile::add(const Progress& progress) {
  const StepReport& step = progress.step;
  text_ += fmt::format("{},{},{},{},{}\n", step.step, step.learning_rate, step.gradient_norm,
                       step.noise_stddev, progress.budget_share);
}

}  // namespace ration
