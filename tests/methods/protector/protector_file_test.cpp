#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "methods/protector/protectors.h"
#include "ration/base/error.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A file in which one thing was changed, and whose hash was made to fit.
std::string changed(const Protector& protector, const std::string& key, const ordered_json& value) {
  ordered_json json = ordered_json::parse(to_json(protector));
  json.erase("sha256");
  if (value.is_null()) {
    json.erase(key);
  } else {
    json[key] = value;
  }
  json["sha256"] = sha256(json.dump());
  return json.dump();
}

std::string refused(const std::string& text) {
  return refusal([&] { protector_from_json(text, "a.protector"); });
}

TEST(ProtectorFile, IsReadAsItWasWritten) {
  for (const bool scheduler : {true, false}) {
    Protector protector = untrained_protector(1, {.norm = NormSource::released, .scheduler = scheduler});
    protector.origin.data_hashes = {"abc", "def"};
    protector.origin.rate = 0.125;
    protector.origin.clip_bound = 3;
    const std::string text = to_json(protector);
    EXPECT_EQ(protector_from_json(text, "a"), protector);
    EXPECT_EQ(to_json(protector_from_json(text, "a")), text);
    EXPECT_THAT(text, HasSubstr(sha256_of(protector)));
  }
}

TEST(ProtectorFile, OneChangedDigitIsFound) {
  const std::string text = to_json(untrained_protector(2));
  const ordered_json json = ordered_json::parse(text);
  int found = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % 101 != 0 || text[i] < '1' || text[i] > '8') continue;
    std::string damaged = text;
    ++damaged[i];
    EXPECT_NE(refused(damaged), "") << i;
    ++found;
  }
  EXPECT_GT(found, 20);
  std::string other = text;
  other.replace(other.find("\"epochs\":0"), 10, "\"epochs\":7");
  EXPECT_EQ(refused(other), "a.protector: damaged: its content does not have the sha256 that it states");
}

TEST(ProtectorFile, HalfAFileIsRefused) {
  const std::string text = to_json(untrained_protector(2));
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, text.size() / 2, text.size() - 3})
    EXPECT_THAT(refused(text.substr(0, length)),
                AllOf(StartsWith("a.protector: "), HasSubstr("is the file whole?")));
}

TEST(ProtectorFile, AnotherFormatOrVersionIsRefused) {
  const Protector protector = untrained_protector(3);
  EXPECT_THAT(refused("{}"), HasSubstr("expected format = \"ration protector\""));
  EXPECT_THAT(refused("[1, 2]"), HasSubstr("expected format"));
  EXPECT_THAT(refused(changed(protector, "format", "a model")), HasSubstr("expected format"));
  EXPECT_EQ(refused(changed(protector, "version", 2)),
            "a.protector: expected protector version 1, got 2; train it again with this program");
  EXPECT_THAT(refused(changed(protector, "version", nullptr)), HasSubstr("expected protector version 1"));
}

TEST(ProtectorFile, WrongSizesAndNumbersAreRefused) {
  const Protector protector = untrained_protector(4);
  const auto numbers = [](std::size_t count) { return std::vector<double>(count, 0.5); };
  EXPECT_THAT(refused(changed(protector, "projector", numbers(3))), HasSubstr("numbers in projector, got 3"));
  EXPECT_THAT(refused(changed(protector, "scheduler", numbers(protector.scheduler.size() + 1))),
              HasSubstr("numbers in scheduler"));
  EXPECT_THAT(refused(changed(protector, "units", 6)), HasSubstr("numbers in projector"));
  EXPECT_THAT(refused(changed(protector, "units", 65)), HasSubstr("expected 0 < units <= 64, got 65"));
  EXPECT_THAT(refused(changed(protector, "output_scale", 0)), HasSubstr("output_scale"));
  EXPECT_THAT(refused(changed(protector, "norm_noise_ratio", -1)), HasSubstr("norm_noise_ratio"));
  EXPECT_THAT(refused(changed(protector, "steps", 0)), HasSubstr("steps"));
  EXPECT_THAT(refused(changed(protector, "rate", 1.5)), HasSubstr("expected 0 < rate <= 1, got 1.5"));
  EXPECT_THAT(refused(changed(protector, "clip_bound", 0)), HasSubstr("clip_bound"));
  EXPECT_THAT(refused(changed(protector, "norm", "exact")), HasSubstr("expected one of released, previous"));
  EXPECT_THAT(refused(changed(protector, "epsilon", nullptr)), HasSubstr("not a protector"));
  EXPECT_THAT(refused(changed(protector, "epsilon", "much")), HasSubstr("not a protector"));
  std::vector<double> huge(protector.projector.begin(), protector.projector.end());
  huge[7] = 1e300;  // not a float
  EXPECT_THAT(refused(changed(protector, "projector", huge)),
              HasSubstr("a number in projector is not finite"));
}

TEST(ProtectorFile, RefusesTheDataItHasSeen) {
  Protector protector = untrained_protector(5);
  require_independent(protector, "1234567890abcdef");
  protector.origin.data_hashes = {"00", "1234567890abcdef"};
  require_independent(protector, "1234567890abcde");
  EXPECT_THAT(refusal([&] { require_independent(protector, "1234567890abcdef"); }),
              AllOf(HasSubstr("trained on these very rows (sha256 1234567890ab...)"),
                    HasSubstr("use a protector made from other data")));
}

TEST(ProtectorFile, AMissingOneIsNamed) {
  EXPECT_THAT(refusal([] { read_protector("/nowhere/x.protector"); }), HasSubstr("/nowhere/x.protector"));
}

}  // namespace
}  // namespace ration::testing
