#include "support/layering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "support/child_process.h"
#include "support/places.h"

namespace ration::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<SourceFile> files_below(const std::string& root) {
  std::vector<SourceFile> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".h" && ending != ".cpp") continue;
    files.push_back(
        {std::filesystem::relative(entry.path(), root).string(), read_whole_file(entry.path().string())});
  }
  return files;
}

std::vector<std::string> violations_of(const std::string& path, const std::string& text) {
  return layering_violations({{path, text}});
}

TEST(Layering, TheLibraryKeepsIt) {
  for (const char* root : {"/include/ration", "/src"}) {
    const std::vector<SourceFile> files = files_below(RATION_SOURCE_DIR + std::string(root));
    EXPECT_FALSE(files.empty()) << root;
    EXPECT_THAT(layering_violations(files), IsEmpty()) << root;
  }
}

// Noise and samples come from RandomSource. The made-up census is public by construction and has to be the
// same everywhere, so it may use a predictable generator. So may, by way of base/public_random.h:
// meta-training, which knows public tasks only; forecasts, which make up their tables; and the guesses behind
// error bars, which are made of answers. Nobody else.
bool may_be_predictable(const std::string& path) {
  constexpr const char* kPublic[] = {"data/census.cpp", "base/public_random.h", "train/made_up.cpp",
                                     "train/forecast.cpp", "methods/auto/curvature_guess.cpp"};
  return path.starts_with("meta/") ||
         std::find(std::begin(kPublic), std::end(kPublic), path) != std::end(kPublic);
}

std::vector<std::string> predictable_generators(const std::vector<SourceFile>& files) {
  constexpr const char* kNames[] = {"mt19937", "minstd_rand", "default_random_engine", "ranlux",
                                    "random_device", "std::rand", "srand(", "drand48", "random_shuffle",
                                    // the tensor library's
                                    "torch::rand", "torch::normal", "normal_(", "uniform_(", "bernoulli_(",
                                    "manual_seed", "at::rand", "cauchy_(", "exponential_(",
                                    "base/public_random.h"};
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    if (may_be_predictable(file.path)) continue;
    for (const char* name : kNames) {
      if (file.text.find(name) != std::string::npos) found.push_back(file.path + ": " + name);
    }
  }
  return found;
}

TEST(RandomNumbers, ComeFromTheSecureSource) {
  for (const char* root : {"/include/ration", "/src", "/cli"}) {
    EXPECT_THAT(predictable_generators(files_below(RATION_SOURCE_DIR + std::string(root))), IsEmpty())
        << root;
  }
  EXPECT_THAT(predictable_generators({{"oracle/oracle.cpp", "std::mt19937_64 engine;"}}),
              ElementsAre("oracle/oracle.cpp: mt19937"));
  EXPECT_THAT(predictable_generators({{"methods/agd.cpp", "#include \"base/public_random.h\""}}),
              ElementsAre("methods/agd.cpp: base/public_random.h"));
  EXPECT_THAT(predictable_generators({{"objectives/neural/neural.cpp", "sum += torch::randn({3});"}}),
              ElementsAre("objectives/neural/neural.cpp: torch::rand"));
}

TEST(Layering, AcceptsWhatIsLeftOnTheWay) {
  EXPECT_THAT(
      violations_of("oracle/oracle.cpp",
                    "#include <vector>\n#include <fmt/format.h>\n#include \"ration/oracle/oracle.h\"\n"
                    "#include \"ration/data/table.h\"\n#include \"ration/privacy/filter.h\"\n"
                    "#include \"privacy/rdp_curve.h\"\n#include \"helper.h\"\n#include \"base/check.h\"\n"),
      IsEmpty());
  EXPECT_THAT(violations_of("mechanisms/gaussian.h", "#include \"ration/privacy/event.h\"\n"), IsEmpty());
  EXPECT_THAT(violations_of("ration.h", "#include \"ration/train/train.h\"\n"), IsEmpty());
}

TEST(Layering, RefusesWhatIsRightOnTheWay) {
  EXPECT_THAT(violations_of("data/table.h", "#pragma once\n#include \"ration/sampling/poisson.h\"\n"),
              ElementsAre(HasSubstr("data/table.h:2: folder 'data' may not include 'sampling'")));
  EXPECT_THAT(violations_of("base/check.cpp", "#include \"ration/privacy/event.h\"\n").size(), 1u);
  EXPECT_THAT(violations_of("privacy/rdp.cpp", "#include \"ration/mechanisms/gaussian.h\"\n").size(), 1u);
  EXPECT_THAT(violations_of("methods/agd.cpp", "#  include \"train/plan.h\"\n").size(), 1u);
  EXPECT_THAT(violations_of("methods/agd.cpp", "#include <ration/train/plan.h>\n").size(), 1u);
}

TEST(Layering, RefusesNeighboursOfTheSamePlace) {
  EXPECT_THAT(violations_of("steps/adam.h", "#include \"ration/schedules/shape.h\"\n").size(), 1u);
}

TEST(Layering, BaselinesAreMethodsAndMethodsKnowNoBaseline) {
  EXPECT_THAT(violations_of("baselines/privgene.h", "#include \"ration/methods/method.h\"\n").size(), 0u);
  EXPECT_THAT(violations_of("methods/agd.h", "#include \"ration/baselines/privgene.h\"\n").size(), 1u);
  EXPECT_THAT(violations_of("baselines/privgene.h", "#include \"ration/train/plan.h\"\n").size(), 1u);
}

TEST(Layering, MechanismsKnowNoAccountant) {
  EXPECT_THAT(violations_of("mechanisms/gaussian.cpp", "#include \"ration/privacy/accountant.h\"\n"),
              ElementsAre(HasSubstr("only privacy/event.h and privacy/relation.h")));
}

TEST(Layering, RefusesUnknownFoldersAndPathsThatClimb) {
  EXPECT_THAT(violations_of("magic/wand.h", "#pragma once\n"),
              ElementsAre(HasSubstr("folder 'magic' is unknown")));
  EXPECT_THAT(violations_of("train/run.h", "#include \"magic/wand.h\"\n"),
              ElementsAre(HasSubstr("'magic' is unknown")));
  EXPECT_THAT(violations_of("data/table.h", "#include \"../train/run.h\"\n"),
              ElementsAre(HasSubstr("without '..'")));
}

}  // namespace
}  // namespace ration::testing
