#include "ration/base/random.h"

#include <openssl/crypto.h>
#include <pthread.h>

#include "ration/base/error.h"

namespace ration {

std::atomic<std::uint64_t> RandomSource::forks_{0};

RandomSource::RandomSource() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forks_.fetch_add(1, std::memory_order_relaxed); });
  if (registered != 0) throw InternalError("RandomSource: cannot watch for fork()");
  forks_at_last_use_ = forks_.load(std::memory_order_relaxed);
}

RandomSource::~RandomSource() {
  OPENSSL_cleanse(buffer_.data(), sizeof(buffer_));
}

void RandomSource::fill(std::span<std::uint64_t> words) {
  catch_up_with_forks();
  generate(words);
}

void RandomSource::refill() {
  catch_up_with_forks();
  generate(buffer_);
  next_ = 0;
}

void RandomSource::catch_up_with_forks() {
  if (!is_stale()) return;
  after_fork();
  OPENSSL_cleanse(buffer_.data(), sizeof(buffer_));
  next_ = kBufferWords;
  forks_at_last_use_ = forks_.load(std::memory_order_relaxed);  // last: a failed re-keying is tried again
}

}  // namespace ration
