#include "support/ration_command.h"

#include <gtest/gtest.h>

#include <iterator>
#include <sstream>

#include "support/places.h"

namespace ration::testing {

Finished run_ration(const std::string& line, const std::string& folder) {
  std::istringstream in(line);
  const std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
  return run_program(RATION_BINARY, words, folder);
}

nlohmann::json ration_json(const std::string& line, const std::string& folder) {
  const Finished finished = run_ration(line + " --json", folder);
  EXPECT_EQ(finished.exit_code, 0) << line << "\n" << finished.err;
  EXPECT_EQ(finished.err, "") << line;
  EXPECT_TRUE(nlohmann::json::accept(finished.out)) << line << "\n" << finished.out;
  return nlohmann::json::parse(finished.out, nullptr, false);
}

}  // namespace ration::testing
