#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "ration/train/checkpoint.h"

namespace ration {

// A run's folder on the disk, locked against other processes while this object lives.
//
// checkpoint/ exists from the first charge to the end of the run; a folder with model.json and without it is
// finished.
class RunFolder {
 public:
  // A folder that is new, or empty. InputError if it holds a run already.
  static RunFolder make(const std::string& path);
  // One that holds an unfinished run.
  static RunFolder open(const std::string& path);
  ~RunFolder();
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& content) const;
  std::string read(const std::string& name) const;

  void save(const Checkpoint& checkpoint) const;
  Checkpoint load() const;
  // The run is finished.
  void remove_checkpoint();
  // The run never began.
  void remove_everything();

 private:
  explicit RunFolder(std::filesystem::path path);
  void lock();
  void unlock();

  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace ration
