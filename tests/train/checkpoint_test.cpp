#include "train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "support/small_table.h"

namespace ration::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Checkpoint full_checkpoint() {
  Checkpoint checkpoint;
  checkpoint.plan_hash = "abc";
  checkpoint.data_hash = "def";
  checkpoint.data_place = "/data/rows.csv";
  checkpoint.ledger_place = "/data/l.db";
  checkpoint.count_asked = true;
  checkpoint.training = {
      .charged = 12,
      .noisy_rows = 1003,
      .assumed = {"that it rains"},
      .method = {{"step", {7}}, {"weights", {0.1, -1e-300, 1.0 / 3, 5e-324}}, {"rule", {}}}};
  checkpoint.ledger.emplace();
  checkpoint.ledger->entry = {.file = "l.db", .run = 5, .reserved = {0.1, 1e-9}};
  checkpoint.ledger->tokens = {"one", "two"};
  return checkpoint;
}

std::string seal_of_tests(std::string_view text) {
  return "sealed " + sha256(text);
}

TEST(Checkpoint, ComesBackAsItWas) {
  const Checkpoint whole = full_checkpoint();
  const Checkpoint again = checkpoint_from_json(to_json(whole, seal_of_tests), "state.json");
  EXPECT_EQ(again.plan_hash, "abc");
  EXPECT_EQ(again.data_hash, "def");
  EXPECT_EQ(again.data_place, "/data/rows.csv");
  EXPECT_EQ(again.ledger_place, "/data/l.db");
  EXPECT_TRUE(again.count_asked);
  EXPECT_EQ(again.training.charged, 12);
  EXPECT_EQ(again.training.noisy_rows, 1003);
  EXPECT_EQ(again.training.assumed, whole.training.assumed);
  EXPECT_EQ(again.training.method, whole.training.method);  // every bit of it
  ASSERT_TRUE(again.ledger);
  EXPECT_EQ(again.ledger->entry.file, "l.db");
  EXPECT_EQ(again.ledger->entry.run, 5);
  EXPECT_EQ(again.ledger->entry.reserved.epsilon, 0.1);
  EXPECT_EQ(again.ledger->entry.reserved.delta, 1e-9);
  EXPECT_EQ(again.ledger->tokens, whole.ledger->tokens);
}

TEST(Checkpoint, WhatWasLeftOutStaysOut) {
  const Checkpoint again = checkpoint_from_json(to_json(Checkpoint{}, {}), "state.json");
  EXPECT_FALSE(again.count_asked || again.training.noisy_rows || again.ledger);
  EXPECT_EQ(again.training.charged, 0);
}

TEST(Checkpoint, WhatIsNotOneIsRefusedWithItsFile) {
  const auto complaint = [](const std::string& text) {
    return refusal([&] { checkpoint_from_json(text, "state.json"); });
  };
  EXPECT_THAT(complaint(""), StartsWith("state.json: not a checkpoint"));
  EXPECT_THAT(complaint("[]"), StartsWith("state.json: not a checkpoint"));
  const json good = json::parse(to_json(full_checkpoint(), {}));
  for (const char* key :
       {"format", "version", "plan_hash", "data_hash", "count_asked", "charged", "method"}) {
    json without = good;
    without.erase(key);
    EXPECT_THAT(complaint(without.dump()), HasSubstr(key));
    json wrong = good;
    wrong[key] = nullptr;
    EXPECT_THAT(complaint(wrong.dump()), StartsWith("state.json: ")) << key;
  }
  json newer = good;
  newer["version"] = 3;
  EXPECT_THAT(complaint(newer.dump()), HasSubstr("expected a ration checkpoint of version 2"));
}

// Whatever is changed, added or left out by hand; also what looks different and means the same.
TEST(Checkpoint, ChangedByHandItsSealIsBroken) {
  const std::string text = to_json(full_checkpoint(), seal_of_tests);
  const auto complaint = [](const std::string& other) {
    return refusal([&] { StoredCheckpoint(other, "state.json").open(seal_of_tests); });
  };
  EXPECT_EQ(complaint(text), "");
  const json good = json::parse(text);
  EXPECT_THAT(complaint(good.dump(2)), HasSubstr("was changed"));  // the same values in other bytes
  EXPECT_THAT(complaint(text + " "), HasSubstr("was changed"));
  for (const auto& [key, value] : good.items()) {
    json without = good;
    without.erase(key);
    EXPECT_THAT(complaint(without.dump()), StartsWith("state.json: was changed since it was written")) << key;
    json other = good;
    other[key] = 3;
    EXPECT_THAT(complaint(other.dump()), StartsWith("state.json: was changed since it was written")) << key;
  }
  json more = good;
  more["at_work"] = false;
  EXPECT_THAT(complaint(more.dump()), HasSubstr("was changed"));
  EXPECT_THAT(complaint(R"({"seal":"x",)" + text.substr(1, text.rfind(",\"seal\"") - 1) + "}"),
              HasSubstr("was changed"));
  EXPECT_THAT(complaint(R"({"charged":1,)" + text.substr(1)), HasSubstr("was changed"));
}

TEST(Checkpoint, WithoutAKeyNothingIsTakenForWhole) {
  const Sealer none = [](std::string_view) { return std::string(); };
  for (const Sealer& writer : {none, Sealer(seal_of_tests), Sealer()}) {
    EXPECT_THAT(refusal([&] { StoredCheckpoint(to_json(Checkpoint{}, writer), "state.json").open(none); }),
                HasSubstr("there is no key"));
  }
  EXPECT_THAT(
      refusal([&] { StoredCheckpoint(to_json(Checkpoint{}, none), "state.json").open(seal_of_tests); }),
      HasSubstr("was changed"));
}

TEST(Checkpoint, TheSealOfWhatIsNoCheckpointIsRefusedWithItsFile) {
  for (const char* text : {"", "[]", "7", "\x1b"}) {
    EXPECT_THAT(refusal([&] { StoredCheckpoint(text, "state.json").open(seal_of_tests); }),
                StartsWith("state.json: not a checkpoint"));
  }
  // The seal is looked at before the rest is read.
  EXPECT_THAT(refusal([&] { StoredCheckpoint("{", "state.json").open(seal_of_tests); }),
              StartsWith("state.json: was changed"));
}

TEST(Checkpoint, ARefusalIsOneShortLineWhateverTheFileHolds) {
  const std::string complaint = refusal(
      [] { checkpoint_from_json("{\"a\": \"" + std::string(100'000, 'x') + "\n\x1b", "state.json"); });
  EXPECT_LT(complaint.size(), 400u);
  EXPECT_EQ(complaint.find_first_of("\n\x1b"), complaint.npos);
}

}  // namespace
}  // namespace ration::testing
