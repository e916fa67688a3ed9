#pragma once

#include <string>
#include <string_view>

namespace ration {

// Replaces a file as a whole: writes beside it, flushes to the disk, renames, flushes the folder.
//
// Guarantee   after a return the content survives a power failure; after an exception or a crash at any
//             moment, `path` holds what it held before, whole. A crash can leave a file
//             "<path>.<process>.part" beside it.
// Throws InputError where the caller chose the place badly (no such folder, not allowed, read-only, a
// folder), and InternalError where the machine failed (disk full, quota, input/output error); both name the
// path and the reason.
void write_file_atomically(const std::string& path, std::string_view content);

// All of a file. Throws InputError that names the path and the reason.
std::string read_file(const std::string& path);

}  // namespace ration
