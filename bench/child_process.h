#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

namespace ration::bench {

// A program that answers lines with lines, in a process of its own.
//
// Its input is closed and it is waited for when the object ends; a program that could not be started is one
// that answers nothing.
class ChildProcess {
 public:
  // The program, looked for in PATH, and its arguments.
  explicit ChildProcess(std::vector<std::string> words);
  ~ChildProcess() { wait(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Writes a line.
  void tell(const std::string& line);
  // Reads a line, without its end; empty if the program has ended.
  std::string hear();

 private:
  void wait();

  pid_t process_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

}  // namespace ration::bench
