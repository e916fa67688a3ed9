#include "audit/attacks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/numeric.h"
#include "train/model_objective.h"
#include "train/row_transform.h"

namespace ration::audit {
namespace {

// As a run sees the row: in the label's unit, no longer than the schema allows. (What a run subtracts from
// its rows, if it centres them, the attacker does not follow.)
std::unique_ptr<Objective> as_trained_on(const Model& model, const SharedRows& rows) {
  RowTransform transform(rows);
  transform.add_stages_of(model);
  return make_objective(model, transform.share_rows(), {.threads = 1});
}

Batch all_rows(std::size_t count) {
  Batch batch;
  batch.rows.resize(count);
  std::iota(batch.rows.begin(), batch.rows.end(), 0u);
  return batch;
}

double product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

BlackBox::BlackBox(const Model& untrained, std::span<const Canary> canaries) {
  for (const Canary& canary : canaries) {
    targets_.push_back({make_objective(untrained, canary.row, {.threads = 1}),
                        canary.twin ? make_objective(untrained, canary.twin, {.threads = 1}) : nullptr});
  }
}

void BlackBox::score(const Model& trained, std::span<double> scores) {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    scores[i] = -targets_[i].row->mean_loss(trained.weights);
    if (targets_[i].twin) scores[i] += targets_[i].twin->mean_loss(trained.weights);
  }
}

WhiteBox::WhiteBox(const ResolvedPlan& plan, const Model& untrained, std::span<const Canary> canaries,
                   const SharedRows& common)
    : rate_(plan.rate), scores_(canaries.size()) {
  for (const Canary& canary : canaries) {
    targets_.push_back({.row = {as_trained_on(untrained, canary.row)},
                        .twin = {canary.twin ? as_trained_on(untrained, canary.twin) : nullptr}});
  }
  if (common) common_.as_it_is = as_trained_on(untrained, common);
}

void WhiteBox::begin() {
  seen_ = 0;
  std::fill(scores_.begin(), scores_.end(), 0.0);
}

void WhiteBox::look_through(const std::shared_ptr<const RowView>& view) {
  if (view == view_) return;
  view_ = view;
  common_.look_through(view);
  for (Target& target : targets_) {
    target.row.look_through(view);
    target.twin.look_through(view);
  }
}

void WhiteBox::on_gradient(const ReleasedGradient& gradient) {
  ++seen_;
  look_through(gradient.view);
  pull_.resize(gradient.mean.size());
  sum_.assign(gradient.mean.begin(), gradient.mean.end());
  for (double& value : sum_) value *= gradient.divisor;
  if (common_.as_it_is) {
    Objective& common = common_.now();
    common.clipped_gradient_sum(gradient.at, all_rows(common.rows()), gradient.query.clip, pull_);
    for (std::size_t k = 0; k < sum_.size(); ++k) sum_[k] -= rate_ * pull_[k];
  }
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    scores_[i] += evidence_of(targets_[i].row.now(), gradient);
    if (targets_[i].twin.as_it_is) scores_[i] -= evidence_of(targets_[i].twin.now(), gradient);
  }
}

double WhiteBox::evidence_of(Objective& row, const ReleasedGradient& gradient) {
  row.clipped_gradient_sum(gradient.at, all_rows(1), gradient.query.clip, pull_);
  const double stddev = gradient.stddev * gradient.divisor;
  const double ratio = (product(sum_, pull_) - product(pull_, pull_) / 2) / (stddev * stddev);
  return rate_ < 1 ? log_add_exp(std::log1p(-rate_), std::log(rate_) + ratio) : ratio;
}

}  // namespace ration::audit
