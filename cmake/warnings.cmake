# Our own sources are built with warnings as errors; everything included from a library is exempt.
add_library(ration_warnings INTERFACE)
target_compile_options(ration_warnings INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor -Werror)
