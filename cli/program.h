#pragma once

#include <array>

namespace ration::cli {

enum ExitStatus { kDone = 0, kBadInput = 1, kBudgetRefused = 2, kOurFailure = 3, kInterrupted = 130 };

struct ExitStatusMeaning {
  ExitStatus status;
  const char* meaning;
};

inline constexpr std::array kExitStatuses = {
    ExitStatusMeaning{kDone, "success"},
    ExitStatusMeaning{kBadInput, "bad input or usage"},
    ExitStatusMeaning{kBudgetRefused,
                      "the privacy budget does not allow it, or an audit contradicts the claim"},
    ExitStatusMeaning{kOurFailure, "internal error"},
    ExitStatusMeaning{kInterrupted, "interrupted; the run can be resumed"},
};

struct EnvironmentVariable {
  const char* name;
  const char* meaning;
};

inline constexpr std::array kEnvironment = {
    EnvironmentVariable{"RATION_CPU",
                        "Vector instructions to use: portable, avx2 or avx512 (default: the best that the "
                        "processor has; 'ration --version' names them)"},
    EnvironmentVariable{"RATION_DATA", "Folder to look for data files in, after the current one"},
};

}  // namespace ration::cli
