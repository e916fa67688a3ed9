#include "ration/train/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "base/signature.h"
#include "base/user_key.h"
#include "data/content_hash.h"
#include "data/data_hash.h"
#include "data/group_rows.h"
#include "data/named_data.h"
#include "methods/protector.h"
#include "ration/base/error.h"
#include "train/keeper_note.h"
#include "train/model_objective.h"
#include "train/plan_files.h"
#include "train/private_rows.h"
#include "train/progress_file.h"
#include "train/run_account.h"
#include "train/run_certificate.h"
#include "train/run_folder.h"
#include "train/training.h"

namespace ration {
namespace {

// --- what is fixed before the rows are read

// A path that means the same wherever the run is resumed.
std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

// The way to a file from the folder: it stays right if both are moved together.
std::string seen_from(const std::string& folder, const std::string& path) {
  namespace fs = std::filesystem;
  return path.empty() ? path : fs::path(absolute(path)).lexically_relative(absolute(folder)).string();
}

// Its files are the folder's own. It names no absolute path, because it is published with the model; where
// rows and ledger are, the checkpoint knows.
Plan plan_for_folder(const ResolvedPlan& resolved, const data::Schema& schema, const std::string& folder) {
  Plan plan = resolved.plan;
  plan.data = data::name_without_folder(plan.data);
  if (!plan.unit.empty()) plan.rows.reset();  // `units` says it
  plan.ledger = seen_from(folder, plan.ledger);
  for (const PlanFile& file : plan_files()) {
    if (file.content(resolved, schema)) {
      file.set_path(plan, file.copy);
    } else if (!file.path(plan).empty()) {
      file.set_path(plan, "");  // not used
    }
  }
  return plan;
}

// Of the plan and the files beside it.
std::string plan_hash(const RunFolder& folder, std::string_view plan_toml) {
  std::string all(plan_toml);
  for (const PlanFile& file : plan_files()) {
    if (folder.has(file.copy)) all += folder.read(file.copy);
  }
  return sha256(all);
}

std::string plan_was_changed(const RunFolder& folder) {
  std::string names;
  for (const PlanFile& file : plan_files()) names += fmt::format(" or {}", file.copy);
  return fmt::format("{}: plan.toml{} was changed since the run began", folder.file(""), names);
}

void refuse_ledger_without_privacy(const ResolvedPlan& resolved, const RandomSource& random) {
  if (resolved.plan.ledger.empty()) return;
  if (!resolved.is_private()) {
    throw InputError(fmt::format("NOT PRIVATE: a run of method {} may not be written into a ledger",
                                 resolved.plan.method.name()));
  }
  if (random.is_secure()) return;
  throw InputError("NOT PRIVATE: seeded noise; a run with a seed may not be written into a ledger");
}

// --- the run

// Everything a run works with once it is allowed to read the rows.
struct Run {
  ResolvedPlan plan;
  data::Schema schema;
  RunFolder folder;
  std::string content_hash{};  // of the rows
  Checkpoint checkpoint{};
  bool rows_were_read = false;
  bool rows_were_accepted = false;
  std::unique_ptr<RunAccount> account = std::make_unique<RunAccount>();  // none to begin with
  std::optional<SigningKey> key{};                                       // signs the certificate
};

data::Table read_rows(Run& run, const RunOptions& options) {
  run.rows_were_read = true;
  return options.read ? options.read(run.plan.plan.data, run.schema)
                      : data::read_table(
                            run.plan.plan.data, run.schema,
                            {.on_bad_row = run.plan.plan.on_bad_row, .units = !run.plan.plan.unit.empty()});
}

RowTransform rows_of(const Run& run, data::Table table, RandomSource& random) {
  if (run.plan.plan.unit.empty()) return RowTransform(std::move(table.rows), table.left_out);
  data::GroupedRows grouped = data::group_by_unit(std::move(table), run.schema.rows_per_unit, random);
  return RowTransform(std::move(grouped.rows), std::move(grouped.units));
}

bool should_stop(const RunOptions& options) {
  return options.stop != nullptr && options.stop->load(std::memory_order_relaxed);
}

std::int64_t steps_between_checkpoints(const ResolvedPlan& plan) {
  constexpr std::int64_t kCheckpoints = 10;
  return plan.plan.checkpoint_every.value_or(
      std::max<std::int64_t>(1, (plan.steps() + kCheckpoints - 1) / kCheckpoints));
}

void tell(const Training& training, const RunOptions& options, ProgressFile& file) {
  const Progress progress = training.progress();
  file.add(progress);
  for (Observer* const observer : options.observers) observer->on_step(progress);
}

// Writes where the run stands, and that the next `ahead` steps are paid for.
void save(Run& run, const Training& training, const ProgressFile& progress, std::int64_t ahead) {
  run.checkpoint.training = training.save();
  run.checkpoint.training.charged += ahead;
  run.folder.write("progress.csv", progress.text());
  try {
    run.account->save(run.folder, run.checkpoint);
  } catch (const TakenOver&) {
    run.folder.remove_everything();  // these steps were paid for once, and somebody else took them too
    throw;
  }
}

// Up to `most` steps; false if the method had none left.
bool take_stretch(Training& training, std::int64_t most, const RunOptions& options, ProgressFile& progress) {
  for (std::int64_t i = 0; i < most && !should_stop(options); ++i) {
    if (!training.step()) return false;
    tell(training, options, progress);
  }
  return true;
}

// Each stretch is paid for before it is taken. True if all steps were taken.
bool take_planned_steps(Run& run, Training& training, const RunOptions& options, ProgressFile& progress) {
  const std::int64_t stretch = steps_between_checkpoints(run.plan);
  while (training.steps_left() > 0 && !should_stop(options)) {
    const std::int64_t ahead = std::min(stretch, training.steps_left());
    save(run, training, progress, ahead);
    if (!take_stretch(training, ahead, options, progress)) {
      throw InternalError("training: a step of the plan was refused");
    }
  }
  save(run, training, progress, 0);
  return training.steps_left() == 0;
}

// What such a method will spend nobody knows, so a run that is killed stays charged in full and cannot go on;
// one that is stopped can. True if the budget is used up.
bool take_steps_while_they_fit(Run& run, Training& training, const RunOptions& options,
                               ProgressFile& progress) {
  run.checkpoint.at_work = true;
  save(run, training, progress, 0);
  const bool stopped = take_stretch(training, std::numeric_limits<std::int64_t>::max(), options, progress);
  run.checkpoint.at_work = false;
  save(run, training, progress, 0);
  return !stopped;
}

bool take_steps(Run& run, Training& training, const RunOptions& options, ProgressFile& progress) {
  return run.plan.spending_by() == SpendingBy::outputs
             ? take_steps_while_they_fit(run, training, options, progress)
             : take_planned_steps(run, training, options, progress);
}

// The model, and everything that says how it was made.
std::vector<BoundFile> files_to_bind(const Run& run, const std::string& model) {
  if (run.checkpoint.plan_hash != plan_hash(run.folder, run.folder.read("plan.toml")))
    throw InputError(plan_was_changed(run.folder));
  std::vector<BoundFile> files{{"model.json", sha256(model)}, {"plan.toml", run.folder.hash("plan.toml")}};
  for (const PlanFile& file : plan_files()) {
    if (run.folder.has(file.copy)) files.push_back({file.copy, run.folder.hash(file.copy)});
  }
  return files;
}

// The certificate comes before the model, so that no model is ever without one; the ledger gets back what was
// not spent only when both are there.
void finish(Run& run, const Training& training, RunOutcome& outcome) {
  outcome.certificate = certify_training(
      run.plan, training,
      {data::stated_data_hash(run.content_hash, run.account->ledger(), run.plan.plan.data_hash),
       run.checkpoint.secure_random, run.account->entry()});
  outcome.model = untrained_model(run.plan.plan, run.schema);
  outcome.model.weights = training.weights();
  outcome.model.noise = training.weight_noise();
  const std::string model = to_json(outcome.model);
  outcome.certificate.files = files_to_bind(run, model);
  const std::string certificate = to_json(outcome.certificate);
  run.folder.write("certificate.json", certificate);
  run.folder.write("certificate.txt", to_text(outcome.certificate));
  if (run.key) {
    run.folder.write("certificate.sig", run.key->sign(certificate));
  } else {
    run.folder.remove("certificate.sig");  // of a certificate that was never settled
  }
  run.folder.write("model.json", model);
  run.account->settle(outcome.certificate);
  run.folder.remove_checkpoint();
  outcome.finished = true;
}

// Asked once in a run's life: an answer that was lost is not asked for again.
void pay_for_first_answers(Run& run) {
  const TrainingState& state = run.checkpoint.training;
  const bool has_count = !run.plan.count_noise || state.noisy_rows;
  const bool has_mean = !run.plan.mean_noise || state.row_mean;
  if (has_count && has_mean) return;
  if (run.checkpoint.count_asked) {
    throw InputError(
        fmt::format("{}: this run ended just when it asked for the number or the mean of the rows; the "
                    "answer is spent and lost, so the "
                    "run cannot go on. Start another, or declare rows in the plan and leave center out",
                    run.folder.file("")));
  }
  run.checkpoint.count_asked = true;
  run.account->save(run.folder, run.checkpoint);
}

RunOutcome train_on(Run& run, data::Table table, const RunOptions& options, RandomSource& random) {
  pay_for_first_answers(run);
  Training training(run.plan, untrained_model(run.plan.plan, run.schema),
                    rows_of(run, std::move(table), random), random, run.checkpoint.training,
                    {.threads = options.threads, .device = options.device});
  ProgressFile progress = ProgressFile::of(run.folder, training.steps_done());
  RunOutcome outcome{.plan = run.plan, .certificate = {}, .model = {}};
  const bool done = take_steps(run, training, options, progress);
  outcome.steps = training.steps_done();
  if (done) finish(run, training, outcome);
  return outcome;
}

bool nothing_released(const Run& run) {
  const TrainingState& state = run.checkpoint.training;
  return state.charged == 0 && !run.checkpoint.count_asked && !run.checkpoint.at_work &&
         (!state.released || flatten(*state.released).empty());
}

// A run that failed before its first release is called off. If no row had a say in that, its budget is free
// again. Otherwise the failure is an answer about the rows: it stays paid for, or whoever writes schemas and
// plans could ask such questions for ever.
void call_off(Run& run, bool says_nothing) {
  says_nothing ? run.account->give_back() : run.account->forfeit();
  run.folder.remove_everything();
}

// Stopped or failed later, the run stays open in the ledger and can be resumed.
RunOutcome carry_on(Run& run, const RunOptions& options, RandomSource& random) {
  try {
    run.checkpoint.secure_random = run.checkpoint.secure_random && random.is_secure();
    run.account->save(run.folder, run.checkpoint);
    data::Table table = read_rows(run, options);
    run.rows_were_accepted = true;
    RunOutcome outcome = train_on(run, std::move(table), options, random);
    run.account->leave_open();
    return outcome;
  } catch (const TakenOver&) {
    run.account->leave_open();
    throw;
  } catch (const data::PublicFault&) {
    // That every row obeys the schema is an answer, too.
    const bool answered = run.rows_were_accepted && run.plan.plan.on_bad_row == data::OnBadRow::refuse;
    if (nothing_released(run)) call_off(run, !answered);
    run.account->leave_open();
    throw;
  } catch (const InputError& error) {
    const bool too_many = dynamic_cast<const data::TooManyRows*>(&error) != nullptr;
    const bool asked_the_rows = too_many || (nothing_released(run) && run.rows_were_read);
    if (nothing_released(run)) call_off(run, !asked_the_rows);
    run.account->leave_open();
    if (too_many) {
      throw data::TooManyRows(for_the_keeper(error.what(), run.account->entry(), Mend::what_it_says));
    }
    if (asked_the_rows) throw data::BadRows(for_the_keeper(error.what(), run.account->entry()));
    throw;
  } catch (...) {
    if (nothing_released(run)) call_off(run, !run.rows_were_read);
    run.account->leave_open();
    throw;
  }
}

// The plan and a copy of each of its files. What cannot be read back cannot be resumed: a name that is not
// UTF-8.
void write_plan(const RunFolder& folder, const ResolvedPlan& resolved, const data::Schema& schema) {
  const Plan plan = plan_for_folder(resolved, schema, folder.file(""));
  folder.write("plan.toml", to_toml(plan));
  Plan read = parse_plan(folder.read("plan.toml"), folder.file("plan.toml"));
  for (const PlanFile& file : plan_files()) {
    if (const auto content = file.content(resolved, schema)) folder.write(file.copy, *content);
    // Relative to the folder, again.
    if (const std::string path = file.path(plan); !path.empty()) file.set_path(read, path);
  }
  if (read != plan) throw InternalError(fmt::format("{}: does not hold its plan", folder.file("plan.toml")));
}

// Before a row is read: a protector that has seen them is not independent of them.
void require_other_data(const ResolvedPlan& plan, const std::vector<std::string>& content_hashes) {
  if (plan.protector() == nullptr) return;
  for (const std::string& hash : content_hashes) require_independent(*plan.protector(), hash);
}

// So that nobody takes them for public later.
void note_private_rows(const Run& run, const std::vector<std::string>& content_hashes) {
  if (!run.plan.is_private()) return;
  if (const auto key = user_key()) run.folder.write(kPrivateRows, private_rows_text(content_hashes, *key));
}

Run prepare(ResolvedPlan plan, data::Schema schema, const RunOptions& options) {
  Run run{.plan = std::move(plan), .schema = std::move(schema), .folder = RunFolder::make(options.out)};
  try {
    write_plan(run.folder, run.plan, run.schema);
    run.checkpoint.plan_hash = plan_hash(run.folder, run.folder.read("plan.toml"));
    run.checkpoint.data_place = data::with_absolute_path(run.plan.plan.data);
    run.checkpoint.ledger_place = absolute(run.plan.plan.ledger);
    const std::vector<std::string> hashes = data::content_hashes(data::files_of(run.plan.plan.data));
    run.content_hash = hashes.front();
    require_other_data(run.plan, hashes);
    note_private_rows(run, hashes);
    run.account = std::make_unique<RunAccount>(RunAccount::reserve(run.plan, run.content_hash));
  } catch (...) {
    run.folder.remove_everything();
    throw;
  }
  return run;
}

void require_known_spending(const Checkpoint& checkpoint, const std::string& folder) {
  if (!checkpoint.at_work) return;
  throw InputError(fmt::format(
      "{}: the run was cut off while its method chose by what it saw, so nobody knows what it spent; its "
      "whole "
      "budget stays charged and it cannot go on. Start another, or use a method with a fixed plan",
      folder));
}

Run reopen(const RunOptions& options) {
  RunFolder folder = RunFolder::open(options.out);
  const StoredCheckpoint stored = folder.load();
  Checkpoint checkpoint = stored.unproven();  // the seal of these very bytes is looked at in take_over()
  const std::string plan_toml = folder.read("plan.toml");
  const auto require_unchanged = [&] {
    if (checkpoint.plan_hash != plan_hash(folder, plan_toml)) throw InputError(plan_was_changed(folder));
  };
  require_unchanged();
  Plan plan = parse_plan(plan_toml, folder.file("plan.toml"));
  if (!checkpoint.data_place.empty()) plan.data = checkpoint.data_place;
  if (!checkpoint.ledger_place.empty()) plan.ledger = checkpoint.ledger_place;
  ResolvedPlan resolved = resolve(plan);
  data::Schema schema = read_schema_of(plan);
  require_unchanged();  // the files beside the plan, which were read again
  Run run{.plan = std::move(resolved), .schema = std::move(schema), .folder = std::move(folder)};
  run.content_hash = data::content_hash(data::files_of(plan.data));
  run.account = std::make_unique<RunAccount>(RunAccount::take_over(plan, stored, run.content_hash));
  require_known_spending(checkpoint, options.out);
  run.checkpoint = std::move(checkpoint);
  run.rows_were_read = run.rows_were_accepted = true;  // by the process before, for all that is known
  return run;
}

// Steps that were lost are not repeated; with all of them lost there is nothing to go on with.
void require_something_left(const Run& run) {
  const TrainingState& state = run.checkpoint.training;
  if (run.plan.fixed() == nullptr || state.charged < run.plan.steps() || steps_done(state) > 0) return;
  throw InputError(fmt::format(
      "{}: the run was cut off with all its releases paid for and lost; start another", run.folder.file("")));
}

// The process that did the work died between its last two acts.
RunOutcome already_finished(Run& run) {
  if (!run.folder.has("model.json")) {
    throw InputError(fmt::format("{}: run {} is settled; this folder is an older copy of it and cannot go on",
                                 run.account->entry()->file, run.account->entry()->run));
  }
  RunOutcome outcome{.finished = true,
                     .plan = run.plan,
                     .certificate = certificate_from_json(run.folder.read("certificate.json")),
                     .steps = steps_done(run.checkpoint.training),
                     .model = read_model(run.folder.file("model.json"))};
  run.folder.remove_checkpoint();
  return outcome;
}

// Read before anything is charged.
std::optional<SigningKey> key_of(const RunOptions& options) {
  return options.sign.empty() ? std::nullopt : std::optional(SigningKey::read(options.sign));
}

}  // namespace

RunOutcome train(const Plan& plan, const RunOptions& options, RandomSource& random) {
  std::optional<SigningKey> key = key_of(options);
  ResolvedPlan resolved = resolve(plan);
  data::Schema schema = read_schema_of(resolved.plan);
  if (plan.data.empty()) throw InputError("plan: data is needed: the file with the rows");
  const Model model = untrained_model(resolved.plan, schema);
  require_device(model, options.device);
  require_deliverable_by(resolved, model);
  resolved.plan.data = data::find_data(plan.data);
  refuse_ledger_without_privacy(resolved, random);
  Run run = prepare(std::move(resolved), std::move(schema), options);
  run.key = std::move(key);
  return carry_on(run, options, random);
}

RunOutcome resume_run(const RunOptions& options, RandomSource& random) {
  std::optional<SigningKey> key = key_of(options);
  Run run = reopen(options);
  run.key = std::move(key);
  refuse_ledger_without_privacy(run.plan, random);
  if (run.account->is_settled()) return already_finished(run);
  require_something_left(run);
  require_device(untrained_model(run.plan.plan, run.schema), options.device);
  return carry_on(run, options, random);
}

}  // namespace ration
