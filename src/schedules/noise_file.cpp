#include "schedules/noise_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/check.h"
#include "base/quote.h"
#include "base/read_number.h"
#include "ration/base/error.h"

namespace ration {
namespace {

constexpr const char* kTableHead = "step,noise_multiplier";
constexpr double kMostSteps = 1e8;

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
        fmt::format("{}: expected 'NOISE', 'NOISE COUNT' or 'NOISE x COUNT', got {} columns from {}", where,
                    words.size(), in_quotes(words.front())));
  }
  return {read_number(where, "noise", words[0], greater_than(0)),
          words.size() == 2 ? read_count(where, "count", words[1]) : 1};
}

// "12,20.5", step 12 being the next.
NoiseRun read_table_line(const std::string& where, const std::vector<std::string>& words, std::int64_t next) {
  std::string line;
  for (const std::string& word : words) line += word;
  const std::size_t comma = line.find(',');
  if (comma == std::string::npos || line.substr(0, comma) != std::to_string(next)) {
    throw InputError(fmt::format("{}: expected '{},NOISE', got {}", where, next, in_quotes(line)));
  }
  return {read_number(where, "noise", std::string_view(line).substr(comma + 1), greater_than(0)), 1};
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
    throw InputError(fmt::format("{}: is a folder; a schedule is a file of noise multipliers", path));
  }
  std::ifstream in(path);
  if (!in) throw InputError(fmt::format("{}: cannot read the schedule: {}", path, std::strerror(errno)));
  return in;
}

}  // namespace

std::vector<NoiseRun> read_noise_file(const std::string& path) {
  std::ifstream in = open(path);
  std::vector<NoiseRun> runs;
  std::int64_t lines_of_table = 0;
  bool is_table = false;
  int line_number = 0;
  for (std::string line; std::getline(in, line);) {
    const std::string where = fmt::format("{}:{}", path, ++line_number);
    const std::vector<std::string> words = words_before_comment(line);
    if (words.empty()) continue;
    if (runs.empty() && !is_table && words.front() == kTableHead) {
      is_table = true;
    } else {
      append(runs, is_table ? read_table_line(where, words, ++lines_of_table) : read_line(where, words));
    }
  }
  if (runs.empty()) {
    throw InputError(fmt::format("{}: no noise multiplier found; expected one per line, each > 0", path));
  }
  return runs;
}

std::vector<double> read_noise_per_step(const std::string& path) {
  double total = 0;
  std::vector<double> noise;
  for (const NoiseRun& run : read_noise_file(path)) {
    total += static_cast<double>(run.steps);
    require(path, "steps", total, at_least(1).at_most(kMostSteps));
    noise.insert(noise.end(), static_cast<std::size_t>(run.steps), run.noise_multiplier);
  }
  return noise;
}

std::string noise_file_text(std::span<const double> noise) {
  std::string text = std::string(kTableHead) + "\n";
  for (std::size_t t = 0; t < noise.size(); ++t) text += fmt::format("{},{}\n", t + 1, show(noise[t]));
  return text;
}

}  // namespace ration
