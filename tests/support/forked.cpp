#include "support/forked.h"

#include <signal.h>
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

namespace {

[[noreturn]] void report_and_leave(int out, const std::function<void(const ForkedChild::Report&)>& work) {
  int status = 1;
  try {
    work([out](std::uint64_t word) {
      if (write(out, &word, sizeof(word)) != static_cast<ssize_t>(sizeof(word))) _exit(2);
    });
    status = 0;
  } catch (...) {
    status = 3;
  }
  _exit(status);
}

}  // namespace

ForkedChild::ForkedChild(const std::function<void(const Report&)>& work) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("ForkedChild: no pipe");
  child_ = fork();
  if (child_ < 0) throw std::runtime_error("ForkedChild: no fork");
  if (child_ == 0) report_and_leave(ends[1], work);
  close(ends[1]);
  in_ = ends[0];
}

ForkedChild::~ForkedChild() {
  if (child_ > 0) {
    kill();
    waitpid(child_, nullptr, 0);
  }
  close(in_);
}

void ForkedChild::kill() {
  killed_ = true;
  ::kill(child_, SIGKILL);
}

std::vector<std::uint64_t> ForkedChild::words() {
  auto words = read_words(in_);
  int status = 0;
  waitpid(child_, &status, 0);
  child_ = -1;
  const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!well && !(killed_ && WIFSIGNALED(status))) throw std::runtime_error("ForkedChild: the child failed");
  return words;
}

}  // namespace ration::testing
