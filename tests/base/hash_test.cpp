#include "base/hash.h"

#include <gtest/gtest.h>

#include "ration/base/error.h"
#include "support/child_process.h"

namespace ration::testing {
namespace {

// The published examples of FIPS 180-4.
TEST(Sha256, OfKnownTexts) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, OfAFileIsThatOfItsBytes) {
  const TemporaryFolder folder;
  std::string content(3'000'001, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31 % 251);
  EXPECT_EQ(sha256_of_file(folder.write("big", content)), sha256(content));
  EXPECT_EQ(sha256_of_file(folder.write("empty", "")), sha256(""));
}

TEST(Sha256, AFileThatCannotBeReadIsRefused) {
  const TemporaryFolder folder;
  EXPECT_THROW(sha256_of_file(folder.path() + "/none"), InputError);
  EXPECT_THROW(sha256_of_file(folder.path()), InputError);
}

}  // namespace
}  // namespace ration::testing
