#pragma once

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

namespace ration::testing {

// How often a file was opened since: a witness of who reads it that does not ask the reader. Stays 0 where
// the system does not tell.
class OpensOf {
 public:
  // Closings are watched too, because the system merges equal events that follow each other.
  explicit OpensOf(const std::string& path) : watch_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    inotify_add_watch(watch_, path.c_str(), IN_OPEN | IN_CLOSE);
  }
  ~OpensOf() { close(watch_); }
  OpensOf(const OpensOf&) = delete;
  OpensOf& operator=(const OpensOf&) = delete;

  int count() {
    alignas(inotify_event) std::array<char, 4096> buffer{};
    for (ssize_t size; (size = read(watch_, buffer.data(), buffer.size())) > 0;) {
      for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
        inotify_event event{};
        std::memcpy(&event, buffer.data() + at, sizeof event);
        opens_ += (event.mask & IN_OPEN) != 0;
        at += sizeof event + event.len;
      }
    }
    return opens_;
  }

 private:
  int watch_;
  int opens_ = 0;
};

}  // namespace ration::testing
