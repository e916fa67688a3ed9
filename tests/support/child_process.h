#pragma once

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
