#include "figures.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#ifdef RATION_TORCH
#include "nn_steps.h"
#endif

namespace ration::bench {
namespace {

using Goal = Figure::Goal;

Figure milliseconds(const std::string& name, double target) {
  return {name,          "ms",   target,
          Goal::at_most, {name}, [name](const Measurements& m) { return m.at(name).milliseconds; }};
}

Figure counter(const std::string& name, const std::string& source, const std::string& key,
               const std::string& unit, double target) {
  return {name,          unit,     target,
          Goal::at_most, {source}, [=](const Measurements& m) { return m.at(source).counters.at(key); }};
}

Figure million_per_second(const std::string& name, const std::string& source, double target) {
  return {name,     "M/s",
          target,   Goal::at_least,
          {source}, [source](const Measurements& m) { return m.at(source).items_per_second / 1e6; }};
}

// How many times as long one item takes in `many`, which has `times` as many of them as `few`: 1 if cost is
// linear.
Figure linearity(const std::string& name, const std::string& many, const std::string& few, double times,
                 double target) {
  return {name, "ratio", target, Goal::at_most, {many, few}, [=](const Measurements& m) {
            return m.at(many).milliseconds / (times * m.at(few).milliseconds);
          }};
}

// How much longer `slow` takes than `fast`.
Figure ratio(const std::string& name, const std::string& slow, const std::string& fast, double target) {
  return {
      name,         "ratio",
      target,       Goal::at_most,
      {slow, fast}, [=](const Measurements& m) { return m.at(slow).milliseconds / m.at(fast).milliseconds; }};
}

// How many times as fast.
Figure speed_up(const std::string& name, const std::string& slow, const std::string& fast, double target) {
  Figure figure = ratio(name, slow, fast, target);
  figure.goal = Goal::at_least;
  return figure;
}

// Of each network: the ratio on 1 and 2 threads, and of memory.
void add_networks(std::vector<Figure>& all) {
#ifdef RATION_TORCH
  for (const MeasuredNetwork& network : measured_networks()) {
    const std::string name = "nn/" + network.name + "/private_over_plain";
    for (const std::string threads : {"1", "2"}) {
      all.push_back(
          counter(name + "/" + threads, name + "/" + threads, "ratio", "ratio", network.most_ratio));
    }
    const std::string memory = "nn/" + network.name + "/memory";
    all.push_back(counter(memory, memory, "memory", "ratio", 1.2));
  }
#else
  (void)all;
#endif
}

// Whose loops are compiled for each instruction set. What counts memory or threads does not depend on it.
bool depends_on_set(const std::string& name) {
  static constexpr std::string_view kOthers[] = {"accounting/",     "data/",          "large/",
                                                 "search/compare_", "random/poisson", "protector/memory"};
  const bool other = std::any_of(std::begin(kOthers), std::end(kOthers),
                                 [&](std::string_view prefix) { return name.starts_with(prefix); });
  return !other && !name.ends_with("/memory");
}

std::vector<Figure> all_figures() {
  std::vector<Figure> all = {
      milliseconds("accounting/rdp_epsilon_10k", 1),
      milliseconds("accounting/pld_epsilon_10k", 50),
      counter("accounting/pld_bracket_10k", "accounting/pld_epsilon_10k", "bracket", "epsilon", 0.01),
      milliseconds("accounting/exact_epsilon_10k", 5),
      counter("accounting/exact_error", "accounting/exact_vectors", "error", "epsilon", 1e-6),
      milliseconds("accounting/calibrate_pld_eps3", 500),
      // Items are bytes here: megabytes of CSV to an encoded table.
      million_per_second("data/read_csv", "data/read_csv", 100),
      milliseconds("data/read_adult", 250),
      million_per_second("random/gaussian_fill", "random/gaussian_fill/100000", 150),
      ratio("random/poisson_sample_1e9_over_1e5_rows", "random/poisson_sample/1000000000",
            "random/poisson_sample/100000", 1.5),
      ratio("convex/private_over_unclipped", "convex/private_dense/10", "convex/unclipped_dense", 1.15),
      ratio("convex/private_over_numpy", "convex/private_dense/10", "convex/numpy_step", 1.0),
      ratio("convex/private_over_plain", "convex/private_dense/10", "convex/plain_dense", 1.15),
      ratio("convex/private_over_plain_sparse", "convex/private_sparse/14", "convex/plain_sparse", 1.3),
      linearity("convex/per_row_at_100_over_10_percent", "convex/private_dense/100",
                "convex/private_dense/10", 10, 1.3),
      linearity("convex/per_row_at_10_over_1_percent", "convex/private_dense/10", "convex/private_dense/1",
                10, 1.3),
      ratio("convex/units_over_rows", "convex/units_dense/8", "convex/units_dense/1", 1.5),
      ratio("convex/units_over_rows_sparse", "convex/units_sparse/8", "convex/units_sparse/1", 1.5),
      ratio("convex/units_over_rows_seen", "convex/units_sparse_seen/8", "convex/units_sparse_seen/1", 1.5),
      milliseconds("step/large/sgd/795000", 1.5),
      milliseconds("step/large/sgd_on_two_threads/795000", 1),
      milliseconds("fit/sparse/10", 110),
      milliseconds("fit/sparse/100", 110),
      milliseconds("fit/auto", 110),
      milliseconds("fit/sparse_all_processors/100", 110),
      ratio("search/seven_points_over_gradient", "search/losses_along/7", "search/gradient", 1.5),
      ratio("search/21_points_over_7", "search/losses_along/21", "search/losses_along/7", 3),
      milliseconds("search/blsgd_run", 500),
      speed_up("search/compare_speedup_on_2", "search/compare_on_threads/1", "search/compare_on_threads/2",
               1.8),
      // [L2P, Table 1], batches of 20 on a TITAN X; measured on a part of an epoch (protector_bench.cpp).
      counter("protector/epoch_200", "protector/epoch", "seconds_200", "s", 21),
      counter("protector/epoch_1000", "protector/epoch", "seconds_1000", "s", 190),
      counter("protector/epoch_1600", "protector/epoch", "seconds_1600", "s", 350),
      counter("protector/memory_1600_over_200", "protector/memory", "ratio", "ratio", 1.05),
      counter("protector/step_795000", "protector/step/795000", "ns_per_coordinate", "ns", 400),
      counter("large/memory_over_table", "large/train_10m_x_50", "memory", "ratio", 1.3),
  };
  add_networks(all);
  for (Figure& figure : all) figure.per_set = depends_on_set(figure.name);
  return all;
}

}  // namespace

const std::vector<Figure>& figures() {
  static const std::vector<Figure> all = all_figures();
  return all;
}

}  // namespace ration::bench
