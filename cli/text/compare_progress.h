#pragma once

#include <string>

#include "compare/run_comparison.h"

namespace ration::cli {

// "120 of 900 jobs [###-------]  13 %  4 min left  adult svm blsgd"
std::string progress_line(const compare::CompareProgress& progress, double seconds_so_far);

// That line on standard error, rewritten as jobs end; silent unless standard error is a terminal.
class CompareProgressBar {
 public:
  explicit CompareProgressBar(bool wanted);
  ~CompareProgressBar();
  CompareProgressBar(const CompareProgressBar&) = delete;
  CompareProgressBar& operator=(const CompareProgressBar&) = delete;

  void show(const compare::CompareProgress& progress);

 private:
  bool shown_;
  double start_;
  double last_ = 0;
  bool dirty_ = false;
};

}  // namespace ration::cli
