# Our own sources are built with warnings as errors; everything included from a library is exempt. Those of the middle end
# are not exempt when a library's header is precompiled, and GCC 12 has false ones about std::string (bugs 105329, 105651).
# The clang of the fuzzers warns of other things; who builds with it looks for crashes.
add_library(ration_warnings INTERFACE)
target_compile_options(ration_warnings INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Werror
  $<$<BOOL:${RATION_FUZZ}>:-w>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread>)
