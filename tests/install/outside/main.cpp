#include <ration/ration.h>

#include <cstdio>

int main() {
  // A made-up census; your own rows: ration::data::read_table("table.csv",
  // ration::data::read_schema("schema.toml")).
  const auto schema = ration::data::census_schema();
  ration::Plan plan;
  plan.rows = 20'000;
  plan.epsilon = 1;
  plan.delta = 1e-6;
  const auto fitted = ration::fit(plan, schema, ration::data::census_table(20'000, 1));
  const auto test = ration::evaluate_public(fitted.model, ration::data::census_table(5'000, 2));
  std::printf("accuracy %.3f at epsilon %g, delta %g\n", *test.accuracy, fitted.certificate.epsilon,
              fitted.certificate.delta);
  return ration::verify(fitted.certificate).holds() && *test.accuracy > 0.8 ? 0 : 1;
}
