#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

// What all fuzzers share. A fuzzer is one file with LLVMFuzzerTestOneInput (libFuzzer's name for it), built
// twice: with clang into a program that makes up inputs, and with the tests, which run it over fuzz/corpus/.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace ration::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Takes the input in, or refuses it with the library's own error and a message fit for a terminal. Whatever
// else happens is a finding and ends the program: another exception (also InternalError, std::bad_alloc and
// std::logic_error: no input may cause them), a message of several lines that is not about rows, one with
// unprintable bytes, or one without end. True if the input was taken.
bool accepts_or_refuses(const std::function<void()>& read);

// Ends the program with this message unless the condition holds.
void expect(bool holds, std::string_view what);

// A folder of this process, emptied when it ends. Files are written as they are.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // Returns the file's path.
  std::string write(const std::string& name, std::string_view bytes) const;
  std::string path(const std::string& name) const { return (path_ / name).string(); }
  void clear() const;

 private:
  std::filesystem::path path_;
};

}  // namespace ration::fuzz
