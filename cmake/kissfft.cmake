# The header-only C++ class kissfft<double>; Debian's compiled library is single precision only.
find_path(KISSFFT_INCLUDE_DIR kissfft/kissfft.hh REQUIRED)
