#include "base/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>

#include "ration/base/error.h"
#include "support/child_process.h"
#include "support/forked.h"

namespace ration::testing {
namespace {

using ::testing::HasSubstr;

std::ptrdiff_t files_in(const std::string& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

TEST(AtomicFile, ReplacesTheWholeAndLeavesNothingBeside) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", "a longer text that was there before");
  write_file_atomically(path, "new");
  EXPECT_EQ(read_whole_file(path), "new");
  write_file_atomically(path, "");
  EXPECT_EQ(read_whole_file(path), "");
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(AtomicFile, ABadPlaceIsTheCallersError) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_file_atomically("", "x"), InputError);
  EXPECT_THROW(write_file_atomically(folder.path(), "x"), InputError);
  EXPECT_THROW(write_file_atomically(folder.path() + "/no/a", "x"), InputError);
}

// The child may write no file beyond 1000 bytes: what a full disk looks like from here.
TEST(AtomicFile, AFullDiskLeavesTheOldFileWhole) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a", "old");
  const auto answer = in_child([&]() -> std::vector<std::uint64_t> {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_file_atomically(path, std::string(5000, 'x'));
    } catch (const InternalError& error) {
      return {std::string(error.what()).find("cannot write: File too large") != std::string::npos};
    }
    return {2};
  });
  EXPECT_EQ(answer, std::vector<std::uint64_t>{1});
  EXPECT_EQ(read_whole_file(path), "old");
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(ReadFile, GivesEveryByteBackAndNamesWhatItCannotRead) {
  const TemporaryFolder folder;
  const std::string content("a\r\n\0b", 5);
  write_file_atomically(folder.path() + "/bytes", content);
  EXPECT_EQ(read_file(folder.path() + "/bytes"), content);
  EXPECT_THROW(read_file(folder.path() + "/none"), InputError);
  EXPECT_THROW(read_file(folder.path()), InputError);
}

}  // namespace
}  // namespace ration::testing
