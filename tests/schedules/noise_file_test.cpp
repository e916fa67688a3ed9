#include "schedules/noise_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "ration/base/error.h"
#include "support/child_process.h"

namespace ration::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NoiseFile : public ::testing::Test {
 protected:
  std::vector<double> read(const std::string& text) {
    write_file_atomically(path_, text);
    return read_noise_per_step(path_);
  }
  std::string complaint(const std::string& text) {
    try {
      read(text);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path() + "/s.csv";
};

TEST_F(NoiseFile, ReadsNumbersCountsAndComments) {
  EXPECT_THAT(read("# sigmas\n20 x 2\n\n10 3 # and\n5\n"), ElementsAre(20, 20, 10, 10, 10, 5));
}

TEST_F(NoiseFile, ReadsATable) {
  EXPECT_THAT(read("# made\nstep,noise_multiplier\n1,20.5\n2, 20\r\n3,20\n"), ElementsAre(20.5, 20, 20));
}

TEST_F(NoiseFile, WhatIsWrittenIsReadBackBitByBit) {
  const std::vector<double> noise = {1.0 / 3, 22.41183363321717, 1e-5, 1e12};
  EXPECT_EQ(read(noise_file_text(noise)), noise);
}

TEST_F(NoiseFile, RefusesWithFileLineAndRule) {
  EXPECT_THAT(complaint("1 2 3\n"), HasSubstr("s.csv:1: expected 'NOISE', 'NOISE COUNT' or 'NOISE x COUNT'"));
  EXPECT_THAT(complaint("1\n-2\n"), HasSubstr("s.csv:2: expected noise > 0, got '-2'"));
  EXPECT_THAT(complaint("step,noise_multiplier\n1,2\n3,2\n"),
              HasSubstr("s.csv:3: expected '2,NOISE', got '3,2'"));
  EXPECT_THAT(complaint("step,noise_multiplier\n1;2\n"), HasSubstr("s.csv:2: expected '1,NOISE', got '1;2'"));
  EXPECT_THAT(complaint("step,noise_multiplier\n1,x\n"), HasSubstr("s.csv:2: expected noise > 0, got 'x'"));
  EXPECT_THAT(complaint("step,noise_multiplier\n"), HasSubstr("no noise multiplier found"));
  EXPECT_THAT(complaint("1 x 1e11\n"), HasSubstr("steps <= 100000000"));
}

}  // namespace
}  // namespace ration::testing
