#pragma once

#include <string>

namespace ration::data {

// Where a file named in a plan or a comparison is: the first that exists of
//   1. the path as it stands, if it is absolute;
//   2. beside the file that names it, in the folder `beside` (empty: not looked at);
//   3. in the current folder;
//   4. in the folder that RATION_DATA of the environment names, if it is set.
// Throws InputError that lists the places looked at.
std::string find_data_file(const std::string& path, const std::string& beside = "");
// The same for a folder; the message also says what was expected in it.
std::string find_data_folder(const std::string& path, const std::string& beside, const std::string& expected);

}  // namespace ration::data
