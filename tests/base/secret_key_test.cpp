#include "base/secret_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "base/user_key.h"
#include "ration/base/error.h"
#include "support/child_process.h"
#include "support/environment.h"
#include "support/forked.h"

namespace ration::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kDigits = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

TEST(SecretKey, MarksAsHmacSha256Does) {
  const auto key = SecretKey::from_hexadecimal(kDigits);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->hexadecimal(), kDigits);
  // From Python: hmac(hmac(key, "data"), "text").
  EXPECT_EQ(key->mark("data", "text"), "acad648423391b6346b3180fbdd6af2130a852534e5ea4d0cdc97e0ee0ace33d");
}

TEST(SecretKey, IsNoOtherText) {
  for (const std::string& text : {std::string(), std::string(63, '0'), std::string(65, '0'),
                                  std::string(64, 'g'), std::string(64, 'A'), std::string(64, '\0')})
    EXPECT_FALSE(SecretKey::from_hexadecimal(text)) << text;
}

TEST(SecretKey, IsNewEachTime) {
  std::set<std::string> keys;
  for (int i = 0; i < 100; ++i) keys.insert(SecretKey::fresh().hexadecimal());
  EXPECT_EQ(keys.size(), 100u);
}

TEST(SecretKey, MarksAreComparedAsAWhole) {
  EXPECT_TRUE(same_mark("abc", "abc"));
  EXPECT_FALSE(same_mark("abc", "abd"));
  EXPECT_FALSE(same_mark("abc", "ab"));
  EXPECT_FALSE(same_mark("", "a"));
  const std::string mark(64, '5');
  EXPECT_TRUE(same_mark(mark, std::string(64, '5')));
  for (std::size_t i = 0; i < mark.size(); ++i) {
    std::string forged = mark;
    forged[i] = '6';
    EXPECT_FALSE(same_mark(mark, forged)) << i;
  }
}

TEST(UserKey, LiesWhereStateBelongs) {
  const Variable home("HOME", "/home/a");
  {
    const Variable state("XDG_STATE_HOME", "/s");
    EXPECT_EQ(user_key_file(), "/s/ration/key");
  }
  for (const char* const state_home : {static_cast<const char*>(nullptr), "", "relative"}) {
    const Variable state("XDG_STATE_HOME", state_home);
    EXPECT_EQ(user_key_file(), "/home/a/.local/state/ration/key");
    const Variable nowhere("HOME", nullptr);
    EXPECT_EQ(user_key_file(), std::nullopt);
    EXPECT_FALSE(user_key());
  }
}

TEST(UserKey, IsMadeOnceAndForItsOwnerOnly) {
  const TemporaryFolder folder;
  const Variable state("XDG_STATE_HOME", (folder.path() + "/deep/state").c_str());
  const auto key = user_key();
  ASSERT_TRUE(key);
  EXPECT_EQ(user_key()->hexadecimal(), key->hexadecimal());
  const fs::path file = folder.path() + "/deep/state/ration/key";
  EXPECT_EQ(read_whole_file(file.string()), key->hexadecimal() + "\n");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(file.parent_path()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), {}), 1);
}

TEST(UserKey, EightProcessesAgreeOnOne) {
  for (int round = 0; round < 10; ++round) {
    const TemporaryFolder folder;
    const Variable state("XDG_STATE_HOME", folder.path().c_str());
    std::vector<std::unique_ptr<ForkedChild>> children;
    for (int i = 0; i < 8; ++i) {
      children.push_back(std::make_unique<ForkedChild>([](const auto& report) {
        report(std::stoull(user_key()->hexadecimal().substr(0, 16), nullptr, 16));
      }));
    }
    std::set<std::uint64_t> keys;
    for (const auto& child : children) keys.insert(child->words().at(0));
    EXPECT_EQ(keys.size(), 1u);
  }
}

TEST(UserKey, WithoutAPlaceThereIsNone) {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "");
  const Variable state("XDG_STATE_HOME", file.c_str());  // a file has no folders in it
  EXPECT_FALSE(user_key());
}

TEST(UserKey, SomethingElseInItsPlaceIsRefused) {
  const TemporaryFolder folder;
  const Variable state("XDG_STATE_HOME", folder.path().c_str());
  fs::create_directory(folder.path() + "/ration");
  for (const std::string& text : {std::string(), std::string(kDigits).substr(1), std::string("key\n")}) {
    folder.write("ration/key", text);
    try {
      user_key();
      FAIL() << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("/ration/key: expected a key of 64 hexadecimal digits"));
    }
  }
}

}  // namespace
}  // namespace ration::testing
