#pragma once

#include <array>
#include <cstddef>
#include <span>

#if defined(__GNUC__)
#define RATION_ASK_INLINE [[gnu::always_inline]]
#else
#define RATION_ASK_INLINE
#endif

namespace ration {

// Memory that will soon be read or written. Asked for in small portions while the processor computes
// something else, it is in the caches when its turn comes; all at once, the requests would wait for each
// other. Changes nothing but the time.
class Ahead {
 public:
  // Ranges beyond the first few are not asked for.
  template <class T>
  void want(std::span<T> range) {
    if (used_ < ranges_.size()) ranges_[used_++] = std::as_bytes(range);
  }

  // One of `parts` portions of each range. Part of its caller, since GCC takes a call that does nothing else
  // for superfluous.
  RATION_ASK_INLINE void ask_for(std::size_t part, std::size_t parts) const {
    for (const std::span<const std::byte> range : std::span(ranges_).first(used_)) {
      const std::size_t lines = (range.size() + kLine - 1) / kLine;
      for (std::size_t line = part * lines / parts; line < (part + 1) * lines / parts; ++line) {
#if defined(__GNUC__)
        __builtin_prefetch(range.data() + line * kLine);
#endif
      }
    }
  }

 private:
  static constexpr std::size_t kLine = 64;  // bytes
  std::array<std::span<const std::byte>, 6> ranges_{};
  std::size_t used_ = 0;
};

}  // namespace ration

#undef RATION_ASK_INLINE
