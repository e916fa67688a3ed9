#include "train/hats.h"

#include <span>
#include <vector>

#include "data/knots.h"
#include "train/signal.h"

namespace ration {
namespace {

constexpr double kHatsPerSignal = 0.11;

bool takes_knots(const data::Schema& schema, const data::Column& column) {
  return column.type == data::ColumnType::number && column.name != schema.label && column.cuts.empty() &&
         column.knots.empty() && column.high - column.low > 1;
}

struct WithKnots {
  data::Schema schema;
  double hats = 0;
};

WithKnots at_places(data::Schema schema, std::span<const double> places) {
  WithKnots out{std::move(schema)};
  for (data::Column& column : out.schema.columns) {
    if (!takes_knots(out.schema, column)) continue;
    column.knots = data::dyadic_knots(column, places);
    out.hats += static_cast<double>(column.knots.size());
  }
  return out;
}

bool may_have_hats(const Plan& plan, const data::Schema& schema) {
  if (plan.model.is_network() || plan.model.sees_scattering() || schema.max_row_norm) return false;
  if (plan.features.is_auto()) return plan.method == MethodKind::automatic && signal_of(plan);
  return plan.features == Features::hats;
}

}  // namespace

data::Schema with_hats(const Plan& plan, data::Schema schema) {
  if (!may_have_hats(plan, schema)) return schema;
  const double most = kHatsPerSignal * signal_of(plan).value_or(0);
  WithKnots fine = at_places(schema, data::kFinePlaces);
  if (fine.hats <= most) return std::move(fine.schema);
  WithKnots coarse = at_places(schema, data::kCoarsePlaces);
  if (coarse.hats <= most || !plan.features.is_auto()) return std::move(coarse.schema);
  return schema;
}

}  // namespace ration
