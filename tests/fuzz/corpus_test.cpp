// Every fuzzer of fuzz/ over the inputs that are kept for it, in the ordinary build: among them each input
// that once was a finding. A fuzzer ends the program when it finds something.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/places.h"

// fuzz/csv.cpp is compiled with its function named fuzz_csv, and so on; tests/CMakeLists.txt lists them.
#define RATION_FUZZER(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
#include "fuzzers.inc"
#undef RATION_FUZZER

namespace ration::testing {
namespace {

namespace fs = std::filesystem;

struct Fuzzer {
  std::string name;
  int (*run)(const std::uint8_t*, std::size_t);
};

const std::vector<Fuzzer> kFuzzers = {
#define RATION_FUZZER(name) {#name, fuzz_##name},
#include "fuzzers.inc"
#undef RATION_FUZZER
};

const fs::path kCorpus = fs::path(RATION_SOURCE_DIR) / "fuzz/corpus";

class Corpus : public ::testing::TestWithParam<Fuzzer> {};

TEST_P(Corpus, HoldsNoFinding) {
  int inputs = 0;
  for (const auto& entry : fs::directory_iterator(kCorpus / GetParam().name)) {
    SCOPED_TRACE(entry.path());
    const std::string bytes = read_whole_file(entry.path().string());
    GetParam().run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++inputs;
  }
  EXPECT_GT(inputs, 0);
  GetParam().run(nullptr, 0);
}

INSTANTIATE_TEST_SUITE_P(All, Corpus, ::testing::ValuesIn(kFuzzers),
                         [](const auto& fuzzer) { return fuzzer.param.name; });

// A folder without a fuzzer would never be run.
TEST(Corpora, EachHasItsFuzzer) {
  for (const auto& entry : fs::directory_iterator(kCorpus)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(fs::exists(fs::path(RATION_SOURCE_DIR) / "fuzz" / (name + ".cpp"))) << name;
  }
}

TEST(Corpora, AreSmall) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kCorpus)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  EXPECT_LT(bytes, 200'000u);
}

}  // namespace
}  // namespace ration::testing
