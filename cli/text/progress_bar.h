#pragma once

#include <string>

#include "ration/train/run.h"

namespace ration::cli {

// "[######----]  60 %"
std::string bar(double share, std::size_t width);

// One line on standard error that is rewritten as the run goes on, with the budget spent; silent unless
// standard error is a terminal.
class ProgressBar final : public Observer {
 public:
  explicit ProgressBar(bool wanted);
  ~ProgressBar() override;

  void on_step(const Progress& progress) override;

 private:
  bool shown_;
  double last_ = 0;  // when the line was written, in seconds
  bool dirty_ = false;
};

// The same for work that is counted: "1200 of 5000 runs [##------]  24 %".
class CountingBar {
 public:
  CountingBar(bool wanted, std::string what);
  ~CountingBar();
  CountingBar(const CountingBar&) = delete;
  CountingBar& operator=(const CountingBar&) = delete;

  void show(std::size_t done, std::size_t total);

 private:
  bool shown_;
  std::string what_;
  double last_ = 0;
  bool dirty_ = false;
};

}  // namespace ration::cli
