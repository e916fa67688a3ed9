// E5: learned protection against methods designed by hand. [L2P, Figs. 2-4, 8, Table 1]
//   e5 DATA EXAMPLES OUT [STAGE...]     DATA holds mnist, ipums-br and ipums-us-1980, EXAMPLES their schemas
// Stages are those of all_stages(), and all of them if none is named; the last, report, makes tables and
// pictures of what the others left in OUT.
#include <fmt/format.h>

#include <exception>
#include <string>
#include <vector>

#include "report.h"
#include "stages.h"

int main(int argc, char** argv) {
  using namespace ration::e5;
  if (argc < 4) {
    fmt::print(stderr, "usage: e5 DATA EXAMPLES OUT [STAGE...]\n");
    return 1;
  }
  try {
    const Places places{argv[1], argv[2], argv[3]};
    std::vector<std::string> stages(argv + 4, argv + argc);
    if (stages.empty()) stages = all_stages();
    for (const std::string& stage : stages) {
      if (stage == "report") {
        write_report(places.out);
      } else {
        run_stage(stage, places);
      }
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "e5: {}\n", error.what());
    return 1;
  }
}
