#include "compare/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <sstream>
#include <utility>

#include "base/atomic_file.h"
#include "compare/run_lines.h"
#include "ration/base/error.h"

namespace ration::compare {
namespace {

constexpr const char* kComparison = "comparison.toml";
constexpr const char* kRuns = "runs.csv";
constexpr const char* kTrace = "trace.csv";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// "it has 'folds = 3', not 'folds = 10'" for the first line that differs.
std::string difference(const std::string& there, const std::string& here) {
  const auto ours = lines_of(here);
  const auto theirs = lines_of(there);
  for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
    const std::string a = i < theirs.size() ? fmt::format("'{}'", theirs[i]) : "an end";
    const std::string b = i < ours.size() ? fmt::format("'{}'", ours[i]) : "an end";
    if (a != b) return fmt::format("line {} of its {} is {}, now it would be {}", i + 1, kComparison, a, b);
  }
  return "its line ends differ";
}

std::unique_ptr<std::FILE, int (*)(std::FILE*)> open_to_append(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "ab");
  if (file == nullptr) throw InputError(fmt::format("{}: cannot write: {}", path, std::strerror(errno)));
  return {file, std::fclose};
}

void append(std::FILE* file, const std::string& text, const std::string& path) {
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fflush(file) != 0)
    throw InternalError(fmt::format("{}: cannot write: {}", path, std::strerror(errno)));
}

}  // namespace

Folder::Folder(const std::string& path, const std::string& comparison) : path_(path) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) throw InputError(fmt::format("{}: cannot make this folder: {}", path, error.message()));
  lock();
  if (std::filesystem::exists(file(kComparison))) {
    require_same(comparison);
    load_runs();
    load_traces();
  } else {
    for (const char* const name : {kRuns, kTrace}) {
      if (std::filesystem::exists(file(name)))
        throw InputError(fmt::format("{}: is there already; choose another folder", file(name)));
    }
    write_file_atomically(file(kRuns), runs_header());
    write_file_atomically(file(kTrace), trace_header());
    write_file_atomically(file(kComparison), comparison);
  }
  runs_file_ = open_to_append(file(kRuns));
  trace_file_ = open_to_append(file(kTrace));
}

Folder::~Folder() {
  if (lock_ >= 0) close(lock_);
}

void Folder::lock() {
  lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) throw InputError(fmt::format("{}: cannot open: {}", path_.string(), std::strerror(errno)));
  if (flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  close(std::exchange(lock_, -1));
  throw InputError(fmt::format("{}: another process is at work on this comparison", path_.string()));
}

void Folder::require_same(const std::string& comparison) const {
  const std::string there = read_file(file(kComparison));
  if (there == comparison) return;
  throw InputError(fmt::format("{}: holds another comparison: {}; choose another folder", path_.string(),
                               difference(there, comparison)));
}

// A line counts if it is whole, the line end included.
void Folder::load_runs() {
  const std::string text = read_file(file(kRuns));
  const bool torn = !text.empty() && text.back() != '\n';
  std::vector<std::string> lines = lines_of(text);
  if (torn) lines.pop_back();
  if (!lines.empty() && lines.front() + "\n" != runs_header()) {
    throw InputError(fmt::format(
        "{}: its columns are those of another version of ration; choose another folder", file(kRuns)));
  }
  std::string kept = runs_header();
  std::set<RunName> seen;
  for (const std::string& line : lines) {
    const auto run = run_of_line(line);
    if (!run || !seen.insert(run->name).second) continue;
    runs_.push_back(*run);
    kept += to_line(*run);
  }
  write_file_atomically(file(kRuns), kept);
}

void Folder::load_traces() {
  std::set<RunName> done;
  for (const Run& run : runs_) done.insert(run.name);
  for (const std::string& line : lines_of(read_file(file(kTrace)))) {
    const auto point = trace_of_line(line);
    if (!point || !done.contains(point->name)) continue;
    Trace& trace = traces_[point->name];
    trace.name = point->name;
    trace.points.push_back(point->point);
  }
  std::string kept = trace_header();
  for (const auto& [name, trace] : traces_) kept += to_lines(trace);
  write_file_atomically(file(kTrace), kept);
}

std::vector<Trace> Folder::traces() const {
  std::vector<Trace> all;
  for (const auto& [name, trace] : traces_) all.push_back(trace);
  return all;
}

void Folder::add(const Run& run, const Trace& trace) {
  if (!trace.points.empty()) {
    append(trace_file_.get(), to_lines(trace), file(kTrace));
    traces_[trace.name] = trace;
  }
  append(runs_file_.get(), to_line(run), file(kRuns));
  runs_.push_back(run);
}

}  // namespace ration::compare
