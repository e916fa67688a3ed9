#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ration {

// Random bits as an argument: everything that draws takes a RandomSource&, so that tests can pass a seeded or
// silent double (tests/support, marked not private) and nothing in the library can fall back to one.
//
// A source hands out whole blocks; the words are buffered here so that a draw costs no virtual call.
// Not thread-safe: one source per thread (see SecureRandom::for_this_thread).
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  RandomSource(const RandomSource&) = delete;
  RandomSource& operator=(const RandomSource&) = delete;

  std::uint64_t next_word();
  // Fills a large span without passing through the buffer.
  void fill(std::span<std::uint64_t> words);
  // True only for a source whose bits nobody can predict; a certificate says so otherwise.
  virtual bool is_secure() const = 0;

 protected:
  RandomSource() = default;
  virtual void generate(std::span<std::uint64_t> words) = 0;
  // Words already buffered must not be handed out again (a fork, a new key).
  void discard_buffer();
  // Called before each use of the buffer; a source that can become invalid (fork) re-keys here.
  virtual void refresh() {}

 private:
  static constexpr std::size_t kBufferWords = 512;
  std::array<std::uint64_t, kBufferWords> buffer_{};
  std::size_t next_ = kBufferWords;
};

}  // namespace ration
