#include "train/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

TEST(Checkpoint, ComesBackAsItWas) {
  const Checkpoint whole = full_checkpoint();
  const Checkpoint again = checkpoint_from_json(to_json(whole), "state.json");
  EXPECT_EQ(again.plan_hash, "abc");
  EXPECT_EQ(again.data_hash, "def");
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
  const Checkpoint again = checkpoint_from_json(to_json(Checkpoint{}), "state.json");
  EXPECT_FALSE(again.count_asked || again.training.noisy_rows || again.ledger);
  EXPECT_EQ(again.training.charged, 0);
}

TEST(Checkpoint, WhatIsNotOneIsRefusedWithItsFile) {
  const auto complaint = [](const std::string& text) {
    return refusal([&] { checkpoint_from_json(text, "state.json"); });
  };
  EXPECT_THAT(complaint(""), StartsWith("state.json: not a checkpoint"));
  EXPECT_THAT(complaint("[]"), StartsWith("state.json: not a checkpoint"));
  const json good = json::parse(to_json(full_checkpoint()));
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
  newer["version"] = 2;
  EXPECT_THAT(complaint(newer.dump()), HasSubstr("expected a ration checkpoint of version 1"));
}

}  // namespace
}  // namespace ration::testing
