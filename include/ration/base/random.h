// Stable: changes only with a new major version.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace ration {

// Random bits as an argument: everything that draws takes a RandomSource&, so that tests can pass a seeded or
// silent double (tests/support, marked not private) and nothing in the library can fall back to one.
//
// Words are handed out from a buffer, so that a draw costs no virtual call; each is erased as it leaves.
// Guarantee   no buffered word is used on both sides of a fork(): the child drops the buffer and tells the
//             source.
// Edge cases  a clone() made behind the C library's back is not seen. If generating throws, no word is lost
//             or repeated: the next draw tries again.
// Not thread-safe: one source per thread (see SecureRandom::for_this_thread).
class RandomSource {
 public:
  virtual ~RandomSource();
  RandomSource(const RandomSource&) = delete;
  RandomSource& operator=(const RandomSource&) = delete;

  // 64 random bits.
  std::uint64_t next_word() {
    if (next_ == kBufferWords || is_stale()) refill();
    return std::exchange(buffer_[next_++], 0);
  }
  // Fills a large span without passing through the buffer.
  void fill(std::span<std::uint64_t> words);
  // True only for a source whose bits nobody can predict; a certificate says so otherwise.
  virtual bool is_secure() const = 0;
  // A source of the same kind for another thread, whose bits have nothing to do with those of this one; none
  // if the kind has no such thing, as a seeded one has not: then all bits are drawn from this one, in one
  // order.
  virtual std::unique_ptr<RandomSource> another_stream() { return nullptr; }

 protected:
  RandomSource();
  // Writes every word of the span, or throws.
  virtual void generate(std::span<std::uint64_t> words) = 0;
  // Called in a forked child before its first word: what the parent may generate next must not come from
  // here.
  virtual void after_fork() {}

 private:
  bool is_stale() const { return forks_at_last_use_ != forks_.load(std::memory_order_relaxed); }
  void catch_up_with_forks();
  void refill();

  static constexpr std::size_t kBufferWords = 512;
  // Forks between the first process and this one; counted in the child, so a draw needs no system call.
  static std::atomic<std::uint64_t> forks_;

  std::uint64_t forks_at_last_use_;
  std::size_t next_ = kBufferWords;
  std::array<std::uint64_t, kBufferWords> buffer_{};
};

// The noise's bits: AES-256 in counter mode, keyed by the operating system.
//
// Guarantee   each object, and each process after a fork, has its own key of 256 fresh bits, and a new one
//             after every 2^18 blocks of 16 bytes. Blocks under one key never repeat, which uniform ones
//             would: telling N blocks from uniform bits succeeds with probability at most
//             N min(N, 2^18) / 2^129 beyond breaking AES. Key and buffered words are erased at the end.
// Edge cases  throws InternalError if the system's source or the cipher fails; there is no second choice.
class SecureRandom final : public RandomSource {
 public:
  // Takes its key from the operating system.
  SecureRandom();
  ~SecureRandom() override;

  // One stream per thread, made at the thread's first call.
  static SecureRandom& for_this_thread();
  bool is_secure() const override { return true; }
  // With a key of its own, fresh from the operating system.
  std::unique_ptr<RandomSource> another_stream() override;

 private:
  friend struct EntropyInjection;  // src/base/entropy.h: lets a test make the system's source fail
  using EntropyFunction = bool (*)(std::span<std::byte>);
  struct Cipher;

  explicit SecureRandom(EntropyFunction entropy);
  void generate(std::span<std::uint64_t> words) override;
  void after_fork() override;

  EntropyFunction entropy_;
  std::unique_ptr<Cipher> cipher_;
};

}  // namespace ration
