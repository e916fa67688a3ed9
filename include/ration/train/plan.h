// Stable: changes only with a new major version.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ration/base/names.h"
#include "ration/clipping/kinds.h"
#include "ration/data/bad_rows.h"
#include "ration/privacy/accountant.h"
#include "ration/privacy/relation.h"
#include "ration/privacy/sampling.h"
#include "ration/steps/kinds.h"
#include "ration/train/choices.h"

namespace ration {

// Everything that decides a run, as the user wrote it: each member is a key of a plan file and a flag of the
// command line (docs/plan.md). What is left out, or 'auto', gets the method's own value. resolve() checks the
// whole and is the only way to start a run.
struct Plan {
  std::string data{};            // the private rows
  std::string schema{};          // what is public about them; relative to the plan file
  std::string target{};          // the label column, in place of the schema's
  std::optional<double> rows{};  // how many rows there are, as far as the public knows
  std::string unit{};            // the column that says whose a row is; empty: the schema's, or the row
  std::optional<std::int64_t> rows_per_unit{};  // >= 1: of one unit no more are used
  std::optional<double> units{};                // how many units there are, as far as the public knows
  std::optional<double> row_norm{};             // > 0: longer rows are shortened to it
  NamedOrAuto<Centering> center{};              // whether the model sees rows less their noisy mean
  NamedOrAuto<Features> features{};             // how a linear model sees numbers
  // What happens to rows that break the schema
  Named<data::OnBadRow> on_bad_row = data::OnBadRow::refuse;

  ModelName model{};         // what is fitted
  double huber_width = 0.5;  // > 0

  std::optional<double> epsilon{};       // > 0
  std::optional<double> delta{};         // 0 < delta < 1
  NamedOrAuto<Accountant> accountant{};  // adds up what is spent
  NamedOrAuto<Relation> relation{};      // which tables are neighbours

  Named<MethodKind> method = MethodKind::automatic;  // how it is trained
  NamedOrAuto<Sampling> sampling{};                  // which rows a step sees
  std::optional<double> rate{};                      // 0 < rate <= 1
  std::optional<std::int64_t> batch{};            // >= 1: the expected number of rows, in place of the rate
  std::optional<std::int64_t> steps{};            // >= 1
  std::optional<double> epochs{};                 // > 0: steps = epochs / rate, in place of steps
  ScheduleName schedule = ScheduleKind::uniform;  // of the noise
  double gamma = 0.97;                            // in (0, 1); influence and influence-momentum
  double schedule_rate = 0.01;                    // >= 0; exponential and time
  std::int64_t schedule_every = 10;               // >= 1; step
  double schedule_factor = 0.9;                   // in (0, 1]; step
  double schedule_end = 0.5;                      // in (0, 1]; polynomial
  double schedule_power = 1;                      // > 0; polynomial
  std::optional<double> noise{};  // > 0: the noise multiplier; calibrated to the budget if left out

  NamedOrAuto<ClipKind> clip{};        // bounds each row's gradient
  std::optional<double> clip_bound{};  // > 0
  double clip_gamma = 0.01;            // > 0; auto-s
  bool per_layer = false;              // each layer of a network by itself
  double clip_quantile = 0.5;          // 0 to 1; adaptive
  double clip_follow_rate = 0.2;       // > 0; adaptive

  // Methods that pick their own steps
  std::optional<double> expected_steps{};                  // > 0
  std::optional<double> loss_bound{};                      // 1e-200 to 1e200
  Named<SearchNoise> search_noise = SearchNoise::laplace;  // of a line search
  std::optional<double> first_step{};                      // > 0
  std::optional<std::int64_t> candidates{};                // >= 1
  double shrink = 0.8;                                     // in (0, 1)
  double decrease = 0.5;                                   // in (0, 1)
  std::optional<double> raise{};                           // > 0
  double clip_decay = 0.05;                                // in (0, 1); blsgd-ac
  std::string protector{};                                 // l2p: its file; relative to the plan file

  NamedOrAuto<StepKind> step{};                     // what a gradient does to the weights
  std::optional<double> lr{};                       // > 0
  Named<RateShape> lr_shape = RateShape::constant;  // of the learning rate
  std::int64_t warm_up = 0;                         // >= 0
  std::int64_t drop_every = 0;                      // >= 0; step shape
  double drop_factor = 0.1;                         // in (0, 1); step shape
  double momentum = 0.9;                            // in [0, 1)
  std::optional<double> second_momentum{};          // in (0, 1)
  std::optional<double> stability{};                // > 0
  std::optional<double> weight_decay{};             // >= 0
  bool noise_correction = false;                    // Adam: subtract the known variance of the noise

  NamedOrAuto<Averaging> average{};       // which iterates become the model
  std::optional<double> average_decay{};  // in [0, 1)

  std::string ledger{};                            // the ledger that keeps account of these rows
  bool data_hash = false;                          // the SHA-256 of the rows in the certificate
  std::optional<std::int64_t> checkpoint_every{};  // >= 1 steps

  bool operator==(const Plan&) const = default;
};

// One member of a plan, for whoever reads, writes or describes plans.
struct PlanKey {
  std::string name;                  // in a file; the flag is "--" and the name with '-' for '_'
  std::string value;                 // what stands for the value in a help text; empty for a yes or no
  std::string help;                  // what it is, without rule, choices and default
  std::string rule;                  // "0 < rate <= 1"; empty if there is none
  std::string group;                 // heading in a help text
  std::vector<NameAndHelp> choices;  // "auto" among them where it is allowed; empty for other keys
  // Throws InputError, "<where>: expected 0 < rate <= 1, got 'x'".
  std::function<void(Plan&, std::string_view where, std::string_view text)> set;
  // As TOML; nothing if it was left out.
  std::function<std::optional<std::string>(const Plan&)> get;

  // "--" and the name with '-' for '_'.
  std::string flag() const;
  // The default as a flag would have it; empty if there is none.
  std::string usual() const;
  // "Clip rule (auto, abadi, ...) [auto]": help, rule, choices and default.
  std::string describe() const;
};

// All of them, in the order of a plan file.
std::span<const PlanKey> plan_keys();
// Throws InputError, "<where>: unknown key 'stepps'; did you mean 'steps'? ...".
const PlanKey& plan_key(std::string_view name, std::string_view where = "plan");

// Before a key is set to this text: takes out what says the same by another key, such as batch for rate, so
// that the newer one counts.
void forget_other_way(Plan& plan, std::string_view key, std::string_view text);

// Reads a plan on top of the defaults. An unknown key, a wrong type or a value out of range is refused with
// file, line, key and rule. A schema's path is taken relative to the plan's folder.
Plan parse_plan(std::string_view toml, const std::string& file = "plan");
// Also looks for the data beside the plan.
Plan read_plan(const std::string& path);
// What parse_plan reads back as the same plan.
std::string to_toml(const Plan& plan);

}  // namespace ration
