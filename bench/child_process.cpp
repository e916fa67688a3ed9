#include "child_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>

namespace ration::bench {
namespace {

// Closed by exec, so that no child holds another's end open.
std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  return ends;
}

[[noreturn]] void become(std::vector<std::string>& words, int input, int output) {
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(std::vector<std::string> words) {
  std::signal(SIGPIPE, SIG_IGN);  // a child that has ended is one that does not answer
  const auto [child_reads, we_write] = make_pipe();
  const auto [we_read, child_writes] = make_pipe();
  process_ = fork();
  if (process_ < 0) throw std::runtime_error("fork");
  if (process_ == 0) become(words, child_reads, child_writes);
  close(child_reads);
  close(child_writes);
  to_ = fdopen(we_write, "w");
  from_ = fdopen(we_read, "r");
}

void ChildProcess::tell(const std::string& line) {
  std::fputs((line + "\n").c_str(), to_);
  std::fflush(to_);
}

std::string ChildProcess::hear() {
  std::string line;
  for (int c = std::fgetc(from_); c != EOF && c != '\n'; c = std::fgetc(from_))
    line.push_back(static_cast<char>(c));
  return line;
}

void ChildProcess::wait() {
  std::fclose(to_);
  std::fclose(from_);
  waitpid(process_, nullptr, 0);
}

}  // namespace ration::bench
