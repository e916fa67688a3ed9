#pragma once

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compare/run.h"

namespace ration::compare {

// Where a comparison keeps what is done, so that it can go on after the process ended:
//   comparison.toml   what is compared; a folder goes on with the same comparison only
//   runs.csv          one line per finished job, written when it is done
//   trace.csv         the way of the first fold's runs, each written before the line of its job
//
// Crashes     a torn last line, and a trace whose job has no line, are dropped when the folder is opened
//             again.
// Throws InputError if another process is at work here, or the folder belongs to another comparison.
class Folder {
 public:
  Folder(const std::string& path, const std::string& comparison);
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::vector<Run>& runs() const { return runs_; }
  std::vector<Trace> traces() const;
  // Not thread-safe. The trace may have no points.
  void add(const Run& run, const Trace& trace);

 private:
  void lock();
  void require_same(const std::string& comparison) const;
  void load_runs();
  void load_traces();
  std::string file(const char* name) const { return (path_ / name).string(); }

  std::filesystem::path path_;
  int lock_ = -1;
  std::vector<Run> runs_;
  std::map<RunName, Trace> traces_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> runs_file_{nullptr, std::fclose};
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> trace_file_{nullptr, std::fclose};
};

}  // namespace ration::compare
