#pragma once

#include <cstdint>
#include <string>

#include "ration/train/run.h"
#include "train/run_folder.h"

namespace ration {

// progress.csv: one line per step, only what is private already. It is written at checkpoints, so a step
// whose outcome is lost leaves no line.
class ProgressFile {
 public:
  // The lines of the first `steps` steps of a run that goes on; the header alone for a new one.
  static ProgressFile of(const RunFolder& folder, std::int64_t steps);

  void add(const Progress& progress);
  const std::string& text() const { return text_; }

 private:
  explicit ProgressFile(std::string text) : text_(std::move(text)) {}

  std::string text_;
};

}  // namespace ration
