#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace ration::testing {

// Runs `work` in a forked child and returns the words it gives back; an exception there fails the test here.
std::vector<std::uint64_t> in_child(const std::function<std::vector<std::uint64_t>()>& work);

// A forked child that works beside the test and reports words as it goes; what it reported before it was
// killed is still read. Killed, if still alive, at the end of the scope.
class ForkedChild {
 public:
  using Report = std::function<void(std::uint64_t)>;
  explicit ForkedChild(const std::function<void(const Report&)>& work);
  ~ForkedChild();
  ForkedChild(const ForkedChild&) = delete;
  ForkedChild& operator=(const ForkedChild&) = delete;

  // SIGKILL: it runs no destructor and flushes nothing.
  void kill();
  // Waits for its end and returns everything it reported. Throws if it ended with an exception.
  std::vector<std::uint64_t> words();

 private:
  pid_t child_;
  int in_;
  bool killed_ = false;
};

}  // namespace ration::testing
