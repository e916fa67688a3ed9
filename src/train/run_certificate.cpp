#include "train/run_certificate.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/utc.h"
#include "data/data_hash.h"
#include "data/named_data.h"
#include "methods/protector.h"
#include "privacy/cautions.h"

namespace ration {
namespace {

constexpr const char* kUnprotected =
    "the model was fitted to the rows without noise, as a baseline for other models; it may reveal any row "
    "and must not be released";

std::string describe(const Protector& protector) {
  const ProtectorOrigin& origin = protector.origin;
  std::string data = "it lists no data files";
  for (const std::string& hash : origin.data_hashes)
    data = (&hash == &origin.data_hashes.front() ? "data sha256 " : data + ", ") + hash;
  return fmt::format(
      "the protector with sha256 {}, made without these rows: trained on {} tasks, model {}, epsilon {}, "
      "delta {}; {}",
      sha256_of(protector), origin.tasks, origin.model, show(origin.epsilon), show(origin.delta), data);
}

std::string assumed_of_unit(const Plan& plan) {
  return fmt::format(
      "that column {} says whose each row is; rows in which it is missing or cannot be found are nobody's "
      "and left out; of one {} no more than {} rows are used at a time, drawn at random",
      plan.unit, plan.unit, *plan.rows_per_unit);
}

void name_the_unit(const Plan& plan, Certificate& certificate) {
  if (plan.unit.empty()) return;
  certificate.unit = plan.unit;
  certificate.rows_per_unit = *plan.rows_per_unit;
  certificate.unit_of_privacy = unit_in_words(plan.unit, *plan.rows_per_unit);
  certificate.groups.clear();  // they are for rows
}

std::vector<std::string> assumed_public(const ResolvedPlan& plan, const Training& training) {
  std::vector<std::string> list{"the schema: columns, bounds and categories"};
  list.push_back(assumed_of_rows(plan.plan.on_bad_row));
  const std::string what = plan.plan.unit.empty() ? "rows" : "units";
  if (!plan.plan.unit.empty()) list.push_back(assumed_of_unit(plan.plan));
  if (plan.relation == Relation::replace_one) {
    list.push_back("the number of " + what);
  } else {
    const TableSize table{.rows = 0, .declared_rows = training.divisor_rows()};
    if (!plan.count_noise)
      list.push_back(fmt::format("the number of {}, declared as {}", what, show(*plan.plan.rows)));
    list.push_back(fmt::format("that there are at most {} {}", table.most_rows(), what));
  }
  list.insert(list.end(), training.assumed().begin(), training.assumed().end());
  list.push_back("the plan: model, method and settings");
  if (plan.protector() != nullptr) list.push_back(describe(*plan.protector()));
  return list;
}

void name_what_it_is_of(const ResolvedPlan& plan, Certificate& certificate) {
  certificate.data = data::name_without_folder(plan.plan.data);
  certificate.model = plan.plan.model.name();
}

}  // namespace

std::string assumed_of_rows(data::OnBadRow on_bad_row) {
  if (on_bad_row != data::OnBadRow::refuse) return "that the file can be cut into rows, whatever they hold";
  return "that every row obeys the schema: a file with a row that does not is refused, and the refusal says "
         "so";
}

void state(const Circumstances& circumstances, Certificate& certificate) {
  certificate.secure_random = circumstances.secure_random;
  certificate.ledger = circumstances.ledger;
  certificate.data_hash = circumstances.data_hash;
  certificate.date = utc_now();
  std::vector<std::string>& list = certificate.not_covered;
  list.emplace_back("settings chosen by looking at these rows or at earlier results from them");
  if (data::is_plain_data_hash(circumstances.data_hash)) {
    list.emplace_back("the data hash: anyone who knows all rows but one can check a guess of that row");
  }
  if (!circumstances.ledger) {
    list.emplace_back(
        "other runs on these rows, and copies of this run resumed elsewhere: no ledger counts them");
  }
}

Certificate certify_training(const ResolvedPlan& plan, const Training& training,
                             const Circumstances& circumstances) {
  if (!plan.is_private()) {
    Certificate none = no_certificate(kUnprotected, plan.relation, plan.accountant, plan.budget.delta);
    none.data_hash = circumstances.data_hash;
    none.date = utc_now();
    name_what_it_is_of(plan, none);
    return none;
  }
  Certificate certificate = certify(training.released(), plan.relation, plan.accountant, plan.budget,
                                    plan.spending_by(), training.random_words());
  name_the_unit(plan.plan, certificate);
  certificate.assumed_public = assumed_public(plan, training);
  state(circumstances, certificate);
  name_what_it_is_of(plan, certificate);
  // Declared, counted with noise, or public by the relation.
  const double rows = training.divisor_rows();
  certificate.cautions = cautions_for({certificate.epsilon, certificate.delta}, rows);
  if (!certificate.sampler_delta) {
    certificate.not_covered.emplace_back(
        "what collisions among the cipher's blocks may add to delta: beyond epsilon 20 nothing of delta is "
        "kept "
        "for it");
  }
  if (training.facts().single_precision) {
    certificate.not_covered.emplace_back(
        "what rounding sums within a batch to 32 bits may add to a row's influence");
  }
  return certificate;
}

}  // namespace ration
