#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/child_process.h"

namespace ration::testing {

// Exit status 1, nothing on stdout, and one line on stderr.
inline void expect_refused(const Finished& finished, const std::string& message) {
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, ::testing::StartsWith("ration: "));
  EXPECT_THAT(finished.err, ::testing::HasSubstr(message));
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
}

}  // namespace ration::testing
