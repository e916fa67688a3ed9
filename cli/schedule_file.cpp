#include "schedule_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ration/base/error.h"
#include "ration/base/read_number.h"

namespace ration::cli {
namespace {

std::vector<std::string> words_before_comment(const std::string& line) {
  std::istringstream in(line.substr(0, line.find('#')));
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

NoiseRun read_line(const std::string& where, std::vector<std::string> words) {
  if (words.size() == 3 && words[1] == "x") words.erase(words.begin() + 1);
  if (words.size() > 2) {
    throw InputError(
        fmt::format("{}: expected 'NOISE', 'NOISE COUNT' or 'NOISE x COUNT', got {} columns from '{}'", where,
                    words.size(), words.front()));
  }
  return {read_number(where, "noise", words[0], greater_than(0)),
          words.size() == 2 ? read_count(where, "count", words[1]) : 1};
}

void append(std::vector<NoiseRun>& runs, const NoiseRun& run) {
  if (!runs.empty() && runs.back().noise_multiplier == run.noise_multiplier) {
    runs.back().steps += run.steps;
  } else {
    runs.push_back(run);
  }
}

std::ifstream open(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    throw InputError(fmt::format("{}: is a folder; --schedule takes a file of noise multipliers", path));
  }
  std::ifstream in(path);
  if (!in) throw InputError(fmt::format("{}: cannot read the schedule: {}", path, std::strerror(errno)));
  return in;
}

}  // namespace

std::vector<NoiseRun> read_schedule_file(const std::string& path) {
  std::ifstream in = open(path);
  std::vector<NoiseRun> runs;
  int line_number = 0;
  for (std::string line; std::getline(in, line);) {
    ++line_number;
    std::vector<std::string> words = words_before_comment(line);
    if (!words.empty()) append(runs, read_line(fmt::format("{}:{}", path, line_number), std::move(words)));
  }
  if (runs.empty()) {
    throw InputError(fmt::format("{}: no noise multiplier found; expected one per line, each > 0", path));
  }
  return runs;
}

}  // namespace ration::cli
