#include "base/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "ration/base/error.h"
#include "support/child_process.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

// RFC 8032, section 7.1, test 2: one byte, 0x72.
constexpr const char* kPrivate =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"
    "-----END PRIVATE KEY-----\n";
constexpr const char* kPublic =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n"
    "-----END PUBLIC KEY-----\n";
constexpr std::array<unsigned char, 64> kSignature = {
    0x92, 0xa0, 0x09, 0xa9, 0xf0, 0xd4, 0xca, 0xb8, 0x72, 0x0e, 0x82, 0x0b, 0x5f, 0x64, 0x25, 0x40,
    0xa2, 0xb2, 0x7b, 0x54, 0x16, 0x50, 0x3f, 0x8f, 0xb3, 0x76, 0x22, 0x23, 0xeb, 0xdb, 0x69, 0xda,
    0x08, 0x5a, 0xc1, 0xe4, 0x3e, 0x15, 0x99, 0x6e, 0x45, 0x8f, 0x36, 0x13, 0xd0, 0xf1, 0x1d, 0x8c,
    0x38, 0x7b, 0x2e, 0xae, 0xb4, 0x30, 0x2a, 0xee, 0xb0, 0x0d, 0x29, 0x16, 0x12, 0xbb, 0x0c, 0x00};

template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Signature, IsThatOfTheStandard) {
  const TemporaryFolder folder;
  const std::string signature = SigningKey::read(folder.write("key.pem", kPrivate)).sign("\x72");
  EXPECT_EQ(signature, std::string(kSignature.begin(), kSignature.end()));
  EXPECT_TRUE(VerifyingKey::read(folder.write("key.pub", kPublic)).has_signed("\x72", signature));
}

TEST(Signature, OfOtherBytesOrCutOffIsRefused) {
  const TemporaryFolder folder;
  const VerifyingKey key = VerifyingKey::read(folder.write("key.pub", kPublic));
  std::string signature(kSignature.begin(), kSignature.end());
  EXPECT_FALSE(key.has_signed("\x73", signature));
  EXPECT_FALSE(key.has_signed("\x72\x72", signature));
  EXPECT_FALSE(key.has_signed("", signature));
  EXPECT_FALSE(key.has_signed("\x72", signature.substr(0, 63)));
  EXPECT_FALSE(key.has_signed("\x72", ""));
  signature[7] = static_cast<char>(signature[7] ^ 1);
  EXPECT_FALSE(key.has_signed("\x72", signature));
}

TEST(Signature, WhatIsNoKeyIsRefused) {
  const TemporaryFolder folder;
  const std::string of_private = folder.write("key.pem", kPrivate);
  const std::string of_public = folder.write("key.pub", kPublic);
  EXPECT_THAT(refusal([&] { SigningKey::read(of_public); }),
              HasSubstr("key.pub: expected an Ed25519 private key"));
  EXPECT_THAT(refusal([&] { VerifyingKey::read(of_private); }),
              HasSubstr("key.pem: expected an Ed25519 public key"));
  EXPECT_THAT(refusal([&] { SigningKey::read(folder.write("a", "hello")); }), HasSubstr("a: expected"));
  EXPECT_THAT(refusal([&] { SigningKey::read(folder.path() + "/none"); }), HasSubstr("none: cannot read"));
}

}  // namespace
}  // namespace ration::testing
