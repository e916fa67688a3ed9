#include "support/fuzz.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <typeinfo>

#include "ration/base/error.h"
#include "ration/data/bad_rows.h"

namespace ration::fuzz {
namespace {

// Far above what an honest message needs: names and values are cut, lists are not long.
constexpr std::size_t kLongestLine = 2000;

[[noreturn]] void give_up(std::string_view what) {
  std::fprintf(stderr, "\n==fuzz== %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

bool is_unprintable(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

void check_message(std::string_view message, bool may_have_lines) {
  if (message.empty()) give_up("a refusal without a message");
  std::size_t length = 0;
  for (const char c : message) {
    const bool ends_line = c == '\n' && may_have_lines;
    length = ends_line ? 0 : length + 1;
    if (is_unprintable(c) && !ends_line)
      give_up(fmt::format("a refusal with an unprintable byte {:#04x}: {}", static_cast<unsigned char>(c),
                          message.substr(0, kLongestLine)));
    if (length > kLongestLine)
      give_up(fmt::format("a refusal of {} bytes: {}", message.size(), message.substr(0, kLongestLine)));
  }
}

}  // namespace

bool accepts_or_refuses(const std::function<void()>& read) {
  try {
    read();
    return true;
  } catch (const data::BadRows& error) {
    check_message(error.what(), true);
  } catch (const InputError& error) {
    check_message(error.what(), false);
  } catch (const BudgetRefused& error) {
    check_message(error.what(), false);
  } catch (const std::exception& error) {
    give_up(fmt::format("{}: {}", typeid(error).name(), error.what()));
  }
  return false;
}

void expect(bool holds, std::string_view what) {
  if (!holds) give_up(what);
}

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "ration-fuzz-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) give_up("cannot make a folder for temporary files");
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::write(const std::string& name, std::string_view bytes) const {
  const std::string file = path(name);
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) give_up("cannot write a temporary file");
  const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
  ::close(descriptor);
  if (written != static_cast<ssize_t>(bytes.size())) give_up("cannot write a temporary file");
  return file;
}

void Folder::clear() const {
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    std::filesystem::remove_all(entry.path());
}

}  // namespace ration::fuzz
