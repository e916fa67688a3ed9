#include "ration/privacy/ledger.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/read_number.h"
#include "commands/commands.h"
#include "data/content_hash.h"
#include "data/named_data.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "flags/step_plan_flags.h"
#include "privacy/cautions.h"
#include "ration/base/error.h"
#include "text/output.h"
#include "text/text_table.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

struct InitFlags {
  std::optional<std::string> file, data, hash, name, epsilon, delta, relation, unit;
  bool json = false;
};

struct ShowFlags {
  std::optional<std::string> file;
  bool json = false;
};

const std::string& require_file(const std::optional<std::string>& file, std::string_view command) {
  if (!file)
    throw InputError(fmt::format("ledger {}: which ledger? ration ledger {} FILE", command, command));
  return *file;
}

std::string read_hash(const InitFlags& flags) {
  if (flags.data.has_value() == flags.hash.has_value()) {
    throw InputError("ledger init: give either --data FILE or --data-hash HASH");
  }
  return flags.data ? data::content_hash(data::files_of(*flags.data)) : *flags.hash;
}

std::string read_name(const InitFlags& flags) {
  if (flags.name) return *flags.name;
  if (flags.data) return std::filesystem::path(*flags.data).filename().string();
  throw InputError("--name is needed with --data-hash: a name for the data set");
}

double read_total_delta(const std::optional<std::string>& text) {
  if (!text) throw InputError("--delta is needed: 0 <= delta < 1, well below 1 / rows");
  return read_number("--delta", "delta", *text, at_least(0).less_than(1));
}

DataSetBudget read_data_set(const InitFlags& flags) {
  DataSetBudget data;
  data.total = {read_epsilon(flags.epsilon), read_total_delta(flags.delta)};
  data.relation = flags.relation ? named<Relation>("--relation", *flags.relation) : Relation::add_remove;
  data.unit = flags.unit.value_or("");
  data.name = read_name(flags);
  data.hash = read_hash(flags);
  return data;
}

ordered_json to_json(const LedgerState& state) {
  ordered_json json{{"name", state.data.name},
                    {"data_hash", state.data.hash},
                    {"relation", to_string(state.data.relation)},
                    {"epsilon", state.data.total.epsilon},
                    {"delta", state.data.total.delta},
                    {"epsilon_spent", state.spent.epsilon},
                    {"delta_spent", state.spent.delta},
                    {"epsilon_remaining", state.remaining.epsilon},
                    {"delta_remaining", state.remaining.delta},
                    {"runs", state.runs}};
  if (!state.data.unit.empty()) json["unit"] = state.data.unit;
  return json;
}

// "add_remove", or "add_remove of patient_id".
std::string neighbours_of(const DataSetBudget& data) {
  const std::string relation(to_string(data.relation));
  return data.unit.empty() ? relation : fmt::format("{} of {}", relation, data.unit);
}

ordered_json to_json(const LedgerRun& run) {
  return {{"run", run.id},
          {"data_hash", run.data_hash},
          {"what", run.what},
          {"status", to_string(run.status)},
          {"epsilon", run.charged.epsilon},
          {"delta", run.charged.delta},
          {"epsilon_reserved", run.reserved.epsilon},
          {"delta_reserved", run.reserved.delta},
          {"epsilon_stated", run.stated.epsilon},
          {"delta_stated", run.stated.delta},
          {"started", run.started},
          {"ended", run.ended.empty() ? ordered_json(nullptr) : ordered_json(run.ended)}};
}

template <class Entries>
ordered_json to_json_list(const Entries& entries) {
  ordered_json list = ordered_json::array();
  for (const auto& entry : entries) list.push_back(to_json(entry));
  return list;
}

std::string short_hash(const std::string& hash) {
  return hash.substr(0, 12);
}

std::string to_table(const std::vector<LedgerState>& states) {
  using Align = TextTable::Align;
  TextTable table({{"data set"},
                   {"budget"},
                   {"total", Align::right},
                   {"spent", Align::right},
                   {"left", Align::right},
                   {"runs", Align::right},
                   {"relation"},
                   {"hash"}});
  for (const LedgerState& state : states) {
    table.add_row({state.data.name, "epsilon", show_rounded_down(state.data.total.epsilon),
                   show_rounded_up(state.spent.epsilon), show_rounded_down(state.remaining.epsilon),
                   std::to_string(state.runs), neighbours_of(state.data), short_hash(state.data.hash)});
    table.add_row({"", "delta", show_rounded_down(state.data.total.delta), show_rounded_up(state.spent.delta),
                   show_rounded_down(state.remaining.delta)});
  }
  return table.render();
}

std::string to_table(const std::vector<LedgerRun>& runs) {
  using Align = TextTable::Align;
  TextTable table({{"run", Align::right},
                   {"data set"},
                   {"status"},
                   {"epsilon", Align::right},
                   {"delta", Align::right},
                   {"reserved", Align::right},
                   {"started"},
                   {"what"}});
  for (const LedgerRun& run : runs) {
    table.add_row({std::to_string(run.id), short_hash(run.data_hash), std::string(to_string(run.status)),
                   show_rounded_up(run.charged.epsilon), show_rounded_up(run.charged.delta),
                   show_rounded_up(run.reserved.epsilon), run.started, run.what});
  }
  return table.render();
}

void run_init(const InitFlags& flags) {
  const std::string& file = require_file(flags.file, "init");
  const DataSetBudget data = read_data_set(flags);
  Ledger ledger = Ledger::open_or_create(file);
  ledger.add(data);
  const LedgerState state = ledger.state(data.hash);
  const std::vector<std::string> cautions = cautions_before_rows(data.total, std::nullopt);
  if (flags.json) {
    ordered_json json{{"ledger", file}};
    json.update(to_json(state));
    json["cautions"] = cautions;
    print(json_text(json));
    return;
  }
  print(fmt::format("{}: '{}' may spend epsilon {}, delta {} in total, relation {}\n", file, data.name,
                    state.remaining.epsilon, state.remaining.delta, neighbours_of(data)));
  for (const std::string& one : cautions) print(fmt::format("caution: {}\n", one));
}

void run_show(const ShowFlags& flags) {
  const std::string& file = require_file(flags.file, "show");
  const std::vector<LedgerState> states = Ledger::open_to_read(file).states();
  if (flags.json) {
    print(json_text(ordered_json{{"ledger", file}, {"data_sets", to_json_list(states)}}));
  } else {
    print(to_table(states));
  }
}

void run_runs(const ShowFlags& flags) {
  const std::string& file = require_file(flags.file, "runs");
  const std::vector<LedgerRun> runs = Ledger::open_to_read(file).runs();
  if (flags.json) {
    print(json_text(ordered_json{{"ledger", file}, {"runs", to_json_list(runs)}}));
  } else {
    print(runs.empty() ? "no runs yet\n" : to_table(runs));
  }
}

constexpr const char* kExamples = R"(ration ledger init budget.db --data adult.csv --epsilon 2 --delta 1e-6
ration ledger show budget.db
ration ledger runs budget.db --json
)";

void add_init(CLI::App& ledger) {
  auto flags = std::make_shared<InitFlags>();
  CLI::App& command =
      *ledger.add_subcommand("init", "Set the budget of a data set, once; creates the ledger if needed");
  command.add_option("file", flags->file, "Ledger file")->type_name("FILE");
  command
      .add_option("--data", flags->data,
                  "File of the data set; only a hash of its bytes is stored, under a key of the ledger")
      ->type_name("FILE");
  command
      .add_option("--data-hash", flags->hash,
                  "SHA-256 of the data set, as sha256sum prints it, instead of --data")
      ->type_name("HASH");
  command.add_option("--name", flags->name, "Name of the data set (default: the file's name)")
      ->type_name("NAME");
  command.add_option("--epsilon", flags->epsilon, "Epsilon that all runs together may spend, > 0")
      ->type_name("EPSILON");
  command.add_option("--delta", flags->delta, "Delta that all runs together may spend, 0 <= delta < 1")
      ->type_name("DELTA");
  add_relation_flag(command, flags->relation);
  command
      .add_option(
          "--unit", flags->unit,
          "Column that names what neighbours differ by, a patient for example, with all rows (default: "
          "the row)")
      ->type_name("COLUMN");
  add_json_flag(command, flags->json);
  explain(command, {.examples = kExamples});
  command.callback([flags] { run_init(*flags); });
}

void add_view(CLI::App& ledger, const char* name, const char* help, void (*run)(const ShowFlags&)) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App& command = *ledger.add_subcommand(name, help);
  command.add_option("file", flags->file, "Ledger file")->type_name("FILE");
  add_json_flag(command, flags->json);
  explain(command, {.examples = kExamples});
  command.callback([flags, run] { run(*flags); });
}

}  // namespace

void add_ledger(CLI::App& app) {
  CLI::App& ledger = *app.add_subcommand("ledger", "Manage the privacy budgets of data sets across runs");
  ledger.require_subcommand(1);
  explain(ledger, {.examples = kExamples});
  add_init(ledger);
  add_view(ledger, "show", "Show the budget of each data set: total, spent, left", run_show);
  add_view(ledger, "runs", "List all runs: when, what, cost, and how each ended", run_runs);
}

}  // namespace ration::cli
