#include "train/private_evaluation.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/check.h"
#include "data/content_hash.h"
#include "data/named_data.h"
#include "ration/base/error.h"
#include "ration/privacy/ledger.h"
#include "train/run_certificate.h"

namespace ration {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFiles = {"certificate.json", "certificate.txt", "evaluation.json"};

void require_classes(const Model& model) {
  if (model.classes > 0) return;
  throw InputError(fmt::format(
      "evaluate: label '{}' is a number; a private evaluation counts right classes, so use public "
      "rows and --public",
      model.schema.label));
}

// The right to spend, written down before a row is read.
class Charge {
 public:
  Charge(const std::string& data, const std::string& data_hash, const PrivateEvaluationOptions& options) {
    if (options.ledger.empty()) return;
    Budget left{};
    auto granted = Ledger(options.ledger)
                       .reserve({.data_hash = data_hash,
                                 .relation = options.accuracy.relation,
                                 .budget = {options.accuracy.epsilon, 0},
                                 .what = "evaluate: accuracy of a saved model"},
                                &left);
    if (!granted) {
      throw BudgetRefused(fmt::format("{}: evaluating on {} needs epsilon {}, but only {} is left",
                                      options.ledger, data, show(options.accuracy.epsilon),
                                      show_rounded_down(left.epsilon)));
    }
    reservation_.emplace(std::move(*granted));
    remaining_ = left;
    entry_ = {.file = options.ledger, .run = reservation_->run(), .reserved = reservation_->budget()};
  }

  // Nothing was released.
  void give_back() {
    if (reservation_) reservation_->settle({0, 0}, SpendingBy::plan);
  }
  // Fixed before the rows were seen, and spent whole.
  void settle() {
    if (reservation_) reservation_->settle(reservation_->budget(), SpendingBy::plan);
  }

  const std::optional<Budget>& remaining() const { return remaining_; }
  const std::optional<LedgerEntry>& entry() const { return entry_; }

 private:
  std::optional<Reservation> reservation_;
  std::optional<Budget> remaining_;
  std::optional<LedgerEntry> entry_;
};

// Where the files go; made before anything is charged, so that a bad place costs nothing.
class EvaluationFolder {
 public:
  explicit EvaluationFolder(const PrivateEvaluationOptions& options) {
    if (!options.out.empty()) use(options.out);
    if (!options.out.empty() || options.run.empty()) return;
    for (int number = 1; !made_; ++number) use(fs::path(options.run) / fmt::format("evaluation-{}", number));
  }
  EvaluationFolder(const EvaluationFolder&) = delete;
  EvaluationFolder& operator=(const EvaluationFolder&) = delete;
  ~EvaluationFolder() {
    std::error_code ignored;
    if (made_) fs::remove(path_, ignored);  // if it is still empty
  }

  // The certificate first, so that no figure is ever without one.
  void write(const PrivateEvaluation& result) const {
    if (path_.empty()) return;
    write_file_atomically((path_ / kFiles[0]).string(), to_json(result.certificate));
    write_file_atomically((path_ / kFiles[1]).string(), to_text(result.certificate));
    nlohmann::ordered_json json{{"accuracy", nullptr},
                                {"rows", result.found.rows},
                                {"noise_scale", result.noise_scale},
                                {"epsilon", result.certificate.epsilon},
                                {"delta", result.certificate.delta},
                                {"relation", to_string(result.certificate.relation)}};
    if (result.found.accuracy) json["accuracy"] = *result.found.accuracy;
    write_file_atomically((path_ / kFiles[2]).string(), json.dump(2) + "\n");
  }

  std::string path() const { return path_.string(); }

 private:
  void use(const fs::path& path) {
    path_ = path;
    std::error_code error;
    made_ = fs::create_directories(path, error);
    if (error)
      throw InputError(fmt::format("{}: cannot make this folder: {}; choose one by --out", path.string(),
                                   error.message()));
  }

  fs::path path_;
  bool made_ = false;
};

// Of a folder that the user chose.
void require_free(const std::string& folder) {
  for (const char* const name : kFiles) {
    if (const fs::path path = fs::path(folder) / name; !folder.empty() && fs::exists(path))
      throw InputError(fmt::format("{}: would be overwritten; choose another folder", path.string()));
  }
}

struct Counted {
  std::vector<double> predictions;
  std::vector<double> labels;
};

Counted read_and_predict(const Model& model, const std::string& data) {
  const data::Table table = data::read_table(data, model.schema);
  const auto labels = table.rows.labels();
  return {predict(model, table), {labels.begin(), labels.end()}};
}

Certificate certify_evaluation(const NoisyAccuracyQuery& query, const NoisyAccuracyOptions& options,
                               const Circumstances& circumstances) {
  Certificate out =
      certify(query.event(), options.relation, Accountant::rdp, {options.epsilon, 0}, SpendingBy::plan);
  out.assumed_public = {"columns, bounds and categories, from the model's schema"};
  if (options.relation == Relation::replace_one) out.assumed_public.emplace_back("the number of rows");
  out.assumed_public.emplace_back(
      "the model: it was made without these rows, or what it says of them is certified elsewhere");
  state(circumstances, out);
  return out;
}

}  // namespace

PrivateEvaluation evaluate_privately(const Model& model, const std::string& data,
                                     const PrivateEvaluationOptions& options, RandomSource& random) {
  const NoisyAccuracyQuery query(options.accuracy);
  require_classes(model);
  if (!options.ledger.empty() && !random.is_secure())
    throw InputError("NOT PRIVATE: seeded noise; an evaluation with a seed may not be written into a ledger");
  const std::string data_hash = data::content_hash(data::files_of(data));
  require_free(options.out);
  const EvaluationFolder folder(options);
  Charge charge(data, data_hash, options);
  // Before the rows are read: what cannot be certified is not released.
  PrivateEvaluation result{.found = {},
                           .noise_scale = query.noise_scale(),
                           .certificate = certify_evaluation(query, options.accuracy,
                                                             {data_hash, random.is_secure(), charge.entry()}),
                           .remaining = charge.remaining(),
                           .folder = folder.path()};
  Counted counted;
  try {
    counted = read_and_predict(model, data);
  } catch (const InputError&) {
    charge.give_back();
    throw;
  }
  result.found = query.release(counted.predictions, counted.labels, random);
  folder.write(result);
  charge.settle();
  return result;
}

}  // namespace ration
