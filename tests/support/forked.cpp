#include "support/forked.h"

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace ration::testing {
namespace {

[[noreturn]] void run_and_leave(int out, const std::function<std::vector<std::uint64_t>()>& work) {
  int status = 1;
  try {
    const auto words = work();
    const auto bytes = static_cast<ssize_t>(words.size() * sizeof(words[0]));
    status = write(out, words.data(), static_cast<std::size_t>(bytes)) == bytes ? 0 : 2;
  } catch (...) {
    status = 3;
  }
  _exit(status);
}

std::vector<std::uint64_t> read_words(int in) {
  std::vector<std::uint64_t> words;
  std::uint64_t word = 0;
  while (read(in, &word, sizeof(word)) == static_cast<ssize_t>(sizeof(word))) words.push_back(word);
  return words;
}

}  // namespace

std::vector<std::uint64_t> in_child(const std::function<std::vector<std::uint64_t>()>& work) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("in_child: no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("in_child: no fork");
  if (child == 0) run_and_leave(ends[1], work);
  close(ends[1]);
  auto words = read_words(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("in_child: the child failed");
  return words;
}

}  // namespace ration::testing
