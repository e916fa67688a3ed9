#include "base/parallel.h"

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>

namespace ration {
namespace {

// On the stack of the caller, who stays until all its tasks are done.
struct Job {
  const Task* task;
  std::size_t count;
  std::size_t begun = 0;
  std::size_t done = 0;
};

class Helpers {
 public:
  void run(std::size_t count, const Task& task) {
    Job job{.task = &task, .count = count};
    std::unique_lock lock(mutex_);
    open_.push_back(&job);
    start(count - 1);
    for (std::size_t i = 1; i < count; ++i) work_.notify_one();
    while (job.begun < job.count) do_one(job, lock);
    all_done_.wait(lock, [&] { return job.done == job.count; });
  }

 private:
  // Those that cannot be started are done without.
  void start(std::size_t wanted) {
    try {
      for (; started_ < wanted; ++started_) std::thread([this] { help(); }).detach();
    } catch (const std::system_error&) {
    }
  }

  void do_one(Job& job, std::unique_lock<std::mutex>& lock) {
    const std::size_t which = job.begun++;
    if (job.begun == job.count) std::erase(open_, &job);
    lock.unlock();
    (*job.task)(which);
    lock.lock();
    if (++job.done == job.count) all_done_.notify_all();
  }

  [[noreturn]] void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, [&] { return !open_.empty(); });
      do_one(*open_.front(), lock);
    }
  }

  std::mutex mutex_;
  std::condition_variable work_, all_done_;
  std::deque<Job*> open_;  // with tasks that nobody has begun
  std::size_t started_ = 0;
};

// Never destroyed, since helpers sleep in it when the program ends. A child that was forked has no helpers,
// and perhaps a mutex that is locked for ever: it forgets this.
std::atomic<Helpers*> the_helpers{nullptr};

Helpers& helpers() {
  [[maybe_unused]] static const int watched =
      pthread_atfork(nullptr, nullptr, [] { the_helpers.store(nullptr); });
  Helpers* found = the_helpers.load();
  if (found != nullptr) return *found;
  auto* const made = new Helpers;
  if (the_helpers.compare_exchange_strong(found, made)) return *made;
  delete made;
  return *found;
}

}  // namespace

void share_out(std::size_t count, const Task& task) {
  if (count <= 1) {
    if (count == 1) task(0);
    return;
  }
  helpers().run(count, task);
}

}  // namespace ration
