#include "flags/common_flags.h"

#include <CLI/CLI.hpp>

#include "flags/explain.h"
#include "flags/step_plan_flags.h"

namespace ration::cli {

void add_json_flag(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print a single JSON object");
}

void add_delta_flag(CLI::App& command, std::optional<std::string>& delta) {
  command.add_option("--delta", delta, "Delta, 0 < delta < 1; choose it well below 1 / rows")
      ->type_name("DELTA");
}

void add_relation_flag(CLI::App& command, std::optional<std::string>& relation) {
  offer_names<Relation>(command
                            .add_option("--relation", relation,
                                        "Which data sets are neighbours: add_remove (default) or replace_one")
                            ->type_name("NAME"));
}

void add_threads_flag(CLI::App& command, std::optional<std::string>& threads) {
  command.add_option("--threads", threads, "Number of threads (default: one per processor)")->type_name("N");
}

}  // namespace ration::cli
