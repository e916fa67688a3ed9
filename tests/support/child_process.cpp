#include "support/child_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace ration::testing {
namespace {

// Tests, and the programs they start, keep their state apart from that of whoever runs them.
[[maybe_unused]] const int own_state = setenv("XDG_STATE_HOME", RATION_STATE_FOLDER, 1);

// In the child: nothing but calls that are safe after a fork.
[[noreturn]] void become(const std::vector<char*>& argv, const char* folder, int out, int err,
                         const std::function<void()>& before) {
  const bool ready = dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0 &&
                     (*folder == '\0' || chdir(folder) == 0);
  if (ready && before) before();
  if (ready) execv(argv.front(), argv.data());
  _exit(127);
}

std::string rewind_and_read(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text.push_back(static_cast<char>(c));
  std::fclose(file);
  return text;
}

}  // namespace

RunningProgram::RunningProgram(const std::string& program, const std::vector<std::string>& arguments,
                               const std::string& folder, const std::function<void()>& before)
    : out_(std::tmpfile()), err_(std::tmpfile()) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  if (out_ == nullptr || err_ == nullptr) throw std::runtime_error("no temporary file");
  child_ = fork();
  if (child_ < 0) throw std::runtime_error("fork failed");
  if (child_ == 0) become(argv, folder.c_str(), fileno(out_), fileno(err_), before);
}

RunningProgram::~RunningProgram() {
  if (child_ <= 0) return;
  signal(SIGKILL);
  wait();
}

void RunningProgram::signal(int number) const {
  ::kill(child_, number);
}

bool RunningProgram::has_ended() {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child_;
}

Finished RunningProgram::wait() {
  int status = 0;
  if (waitpid(child_, &status, 0) != child_) throw std::runtime_error("waitpid failed");
  return ended_with(status);
}

Finished RunningProgram::ended_with(int status) {
  child_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), rewind_and_read(out_),
          rewind_and_read(err_)};
}

Finished run_program(const std::string& program, const std::vector<std::string>& arguments,
                     const std::string& folder) {
  return RunningProgram(program, arguments, folder).wait();
}

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "ration-test-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& content) const {
  const std::string path = path_ + "/" + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string read_whole_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace ration::testing
