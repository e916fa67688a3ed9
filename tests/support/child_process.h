#pragma once

#include <sys/types.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace ration::testing {

// A finished child process.
struct Finished {
  int exit_code;  // 128 + signal if it was killed
  std::string out;
  std::string err;
};

// Runs a program (found by path) with these arguments in a folder (empty: the current one) and waits for it.
Finished run_program(const std::string& program, const std::vector<std::string>& arguments,
                     const std::string& folder = "");

// A program at work, found by path, in a folder (empty: the current one). Killed, if still alive, at the end
// of the scope.
class RunningProgram {
 public:
  // `before`, in the child just before the program begins, may only call what is safe after a fork.
  RunningProgram(const std::string& program, const std::vector<std::string>& arguments,
                 const std::string& folder = "", const std::function<void()>& before = {});
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  pid_t id() const { return child_; }
  void signal(int number) const;
  bool has_ended();
  Finished wait();
  // For who waits for the process otherwise: `status` is that of waitpid.
  Finished ended_with(int status);

 private:
  pid_t child_;
  std::FILE* out_;
  std::FILE* err_;
};

// A fresh folder under the system's temporary one, removed at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  // Writes a file into the folder and returns its path.
  std::string write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

std::string read_whole_file(const std::string& path);

}  // namespace ration::testing
