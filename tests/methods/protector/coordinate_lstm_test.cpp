// The LSTM of many coordinates at once against one written down coordinate by coordinate, and its derivatives
// against differences of the loss.
#include "methods/protector/coordinate_lstm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "ration/base/error.h"
#include "support/instruction_sets.h"

namespace ration::protector {
namespace {

template <class Number>
struct Problem {
  Problem(const LstmShape& of, std::size_t coordinates, std::uint64_t seed)
      : shape(of),
        weights(of.parameters()),
        inputs(of.inputs, coordinates),
        state(of.state(), coordinates),
        next(of.state(), coordinates),
        output(1, coordinates) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> draw(0, 0.7);
    for (Number& weight : weights) weight = static_cast<Number>(draw(random));
    for (std::size_t i = 0; i < coordinates; ++i) {
      for (std::size_t j = 0; j < of.inputs; ++j) inputs.at(j, i) = static_cast<Number>(draw(random));
      for (std::size_t j = 0; j < of.state(); ++j) state.at(j, i) = static_cast<Number>(draw(random));
    }
  }

  void forward(std::size_t threads = 1) {
    lstm_forward<Number>(shape, weights, inputs, state, next, output, threads);
  }

  LstmShape shape;
  std::vector<Number> weights;
  Lanewise<Number> inputs, state, next, output;
};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// One layer of one coordinate, in the order that coordinate_lstm.h states.
void plain_layer(const double* weights, const std::vector<double>& z, std::vector<double>& hidden,
                 std::vector<double>& cell) {
  for (std::size_t u = 0; u < hidden.size(); ++u) {
    double sum[4];
    for (std::size_t gate = 0; gate < 4; ++gate) {
      sum[gate] = weights[gate];
      for (std::size_t j = 0; j < z.size(); ++j) sum[gate] += weights[4 * (1 + j) + gate] * z[j];
    }
    weights += 4 * (1 + z.size());
    cell[u] = sigmoid(sum[1]) * cell[u] + sigmoid(sum[0]) * std::tanh(sum[3]);
    hidden[u] = sigmoid(sum[2]) * std::tanh(cell[u]);
  }
}

std::vector<double> joined(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

template <class Number>
void expect_as_written_down(Problem<Number>& problem, double tolerance) {
  problem.forward();
  const std::size_t units = problem.shape.units;
  const std::vector<double> weights(problem.weights.begin(), problem.weights.end());
  for (std::size_t i = 0; i < problem.inputs.coordinates(); ++i) {
    const auto part = [&](std::size_t which) {
      std::vector<double> values;
      for (std::size_t u = 0; u < units; ++u) values.push_back(problem.state.at(which * units + u, i));
      return values;
    };
    std::vector<double> x, h1 = part(0), c1 = part(1), h2 = part(2), c2 = part(3);
    for (std::size_t j = 0; j < problem.shape.inputs; ++j) x.push_back(problem.inputs.at(j, i));
    plain_layer(weights.data(), joined(x, h1), h1, c1);
    plain_layer(weights.data() + problem.shape.first_layer(), joined(h1, h2), h2, c2);
    const double* const readout = weights.data() + problem.shape.first_layer() + problem.shape.second_layer();
    double y = readout[units];
    for (std::size_t u = 0; u < units; ++u) {
      y += readout[u] * h2[u];
      ASSERT_NEAR(problem.next.at(u, i), h1[u], tolerance) << i;
      ASSERT_NEAR(problem.next.at(units + u, i), c1[u], tolerance) << i;
      ASSERT_NEAR(problem.next.at(2 * units + u, i), h2[u], tolerance) << i;
      ASSERT_NEAR(problem.next.at(3 * units + u, i), c2[u], tolerance) << i;
    }
    ASSERT_NEAR(problem.output.at(0, i), y, 10 * tolerance) << i;
  }
}

// A gate is a sum of a bias and as many products as the second layer has inputs, whose partial sums are of
// size 1 or so: each term is rounded by up to 2^-24, twice where multiplication and addition are not one;
// then a few roundings of the exponential and of what follows.
double float_rounding(const LstmShape& shape) {
  constexpr double kAfterwards = 8;
  return (static_cast<double>(1 + 2 * shape.units) + kAfterwards) * 0x1p-23;
}

// Whole blocks of lanes, less and more; the sizes that shapes may have.
TEST(CoordinateLstm, IsTheOneThatIsWrittenDown) {
  for (const std::size_t coordinates : {1u, 15u, 16u, 17u, 33u, 100u}) {
    for (const LstmShape& shape : {LstmShape{1, 1}, LstmShape{2, 20}, LstmShape{3, 7}, LstmShape{8, 64}}) {
      Problem<double> in_double(shape, coordinates, coordinates + shape.units);
      expect_as_written_down(in_double, 1e-12);
      Problem<float> in_float(shape, coordinates, coordinates + shape.units);
      expect_as_written_down(in_float, float_rounding(shape));
    }
  }
}

TEST(CoordinateLstm, SaturatesWithoutANaN) {
  Problem<float> problem({1, 3}, 5, 1);
  for (float& weight : problem.weights) weight *= 1e6f;
  problem.forward();
  for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(std::isfinite(problem.output.at(0, i)));
}

template <class Number>
struct Derivatives {
  explicit Derivatives(const Problem<Number>& problem)
      : weights(problem.weights.size(), Number{0}),
        state(problem.shape.state(), problem.inputs.coordinates()),
        inputs(problem.shape.inputs, problem.inputs.coordinates()) {}

  std::vector<Number> weights;
  Lanewise<Number> state, inputs;
};

// Of sum over coordinates of a y + b . next, for fixed a, b.
struct Loss {
  explicit Loss(const Problem<double>& problem)
      : by_output(1, problem.inputs.coordinates()),
        by_next(problem.shape.state(), problem.inputs.coordinates()) {
    std::mt19937_64 random(99);
    std::normal_distribution<double> draw;
    for (std::size_t i = 0; i < by_output.coordinates(); ++i) {
      by_output.at(0, i) = draw(random);
      for (std::size_t j = 0; j < by_next.features(); ++j) by_next.at(j, i) = draw(random);
    }
  }

  double operator()(Problem<double> problem) const {
    problem.forward();
    double sum = 0;
    for (std::size_t i = 0; i < by_output.coordinates(); ++i) {
      sum += by_output.at(0, i) * problem.output.at(0, i);
      for (std::size_t j = 0; j < by_next.features(); ++j) sum += by_next.at(j, i) * problem.next.at(j, i);
    }
    return sum;
  }
  Derivatives<double> derivatives(const Problem<double>& problem, std::size_t threads = 1) const {
    Derivatives<double> d(problem);
    d.state = by_next;
    lstm_backward<double>(problem.shape, problem.weights, problem.inputs, problem.state, by_output, d.state,
                          d.inputs, d.weights, threads);
    return d;
  }

  Lanewise<double> by_output, by_next;
};

template <class Place>
double difference(const Loss& loss, const Problem<double>& problem, const Place& place) {
  constexpr double kStep = 1e-5;
  Problem<double> more = problem, less = problem;
  place(more) += kStep;
  place(less) -= kStep;
  return (loss(more) - loss(less)) / (2 * kStep);
}

TEST(CoordinateLstm, DerivativesAreThoseOfDifferences) {
  for (const std::size_t coordinates : {1u, 16u, 19u}) {
    const Problem<double> problem({2, 4}, coordinates, 7);
    const Loss loss(problem);
    const Derivatives<double> d = loss.derivatives(problem);
    for (std::size_t k = 0; k < problem.weights.size(); ++k) {
      const double expected =
          difference(loss, problem, [&](Problem<double>& at) -> double& { return at.weights[k]; });
      ASSERT_NEAR(d.weights[k], expected, 1e-7 * (1 + std::abs(expected))) << k;
    }
    const std::size_t i = coordinates - 1;
    for (std::size_t j = 0; j < problem.shape.state(); ++j) {
      const double expected =
          difference(loss, problem, [&](Problem<double>& at) -> double& { return at.state.at(j, i); });
      ASSERT_NEAR(d.state.at(j, i), expected, 1e-8) << j;
    }
    for (std::size_t j = 0; j < problem.shape.inputs; ++j) {
      const double expected =
          difference(loss, problem, [&](Problem<double>& at) -> double& { return at.inputs.at(j, i); });
      ASSERT_NEAR(d.inputs.at(j, i), expected, 1e-8) << j;
    }
  }
}

// Many chunks of lanes, whose sums are put together; the number of threads does not matter to a state.
TEST(CoordinateLstm, ThreadsAndBlocksChangeNothing) {
  constexpr std::size_t kCoordinates = 16 * 70 + 3;
  Problem<double> one({2, 3}, kCoordinates, 3);
  Problem<double> two({2, 3}, kCoordinates, 3);
  one.forward(1);
  two.forward(2);
  for (std::size_t k = 0; k < one.next.values().size(); ++k)
    ASSERT_EQ(one.next.values()[k], two.next.values()[k]);
  const Loss loss(one);
  const Derivatives<double> by_one = loss.derivatives(one, 1);
  const Derivatives<double> by_two = loss.derivatives(one, 2);
  std::vector<double> one_by_one(one.weights.size(), 0.0);
  for (std::size_t i = 0; i < kCoordinates; ++i) {
    Problem<double> single({2, 3}, 1, 3);
    single.weights = one.weights;
    Loss part(single);
    for (std::size_t j = 0; j < 2; ++j) single.inputs.at(j, 0) = one.inputs.at(j, i);
    for (std::size_t j = 0; j < single.shape.state(); ++j) {
      single.state.at(j, 0) = one.state.at(j, i);
      part.by_next.at(j, 0) = loss.by_next.at(j, i);
    }
    part.by_output.at(0, 0) = loss.by_output.at(0, i);
    const Derivatives<double> d = part.derivatives(single);
    for (std::size_t k = 0; k < one_by_one.size(); ++k) one_by_one[k] += d.weights[k];
  }
  for (std::size_t k = 0; k < by_one.weights.size(); ++k) {
    ASSERT_NEAR(by_one.weights[k], one_by_one[k], 1e-9 * (1 + std::abs(one_by_one[k])));
    ASSERT_NEAR(by_one.weights[k], by_two.weights[k], 1e-9 * (1 + std::abs(by_one.weights[k])));
  }
}

TEST(CoordinateLstm, SizesThatDoNotFitAreRefused) {
  Problem<float> problem({1, 3}, 5, 1);
  problem.weights.pop_back();
  EXPECT_THROW(problem.forward(), InputError);
  Problem<float> too_wide({1, 65}, 1, 1);
  EXPECT_THROW(too_wide.forward(), InputError);
  Problem<float> other_state({1, 3}, 5, 1);
  other_state.state = Lanewise<float>(12, 6);
  EXPECT_THROW(other_state.forward(), InputError);
}

// Forwards and back, in both precisions, with and without a last block that is not full.
template <class Number>
std::vector<Number> all_results(std::size_t coordinates, std::size_t threads) {
  Problem<Number> problem({2, 20}, coordinates, 5);
  problem.forward(threads);
  Derivatives<Number> d(problem);
  d.state = problem.next;
  lstm_backward<Number>(problem.shape, problem.weights, problem.inputs, problem.state, problem.output,
                        d.state, d.inputs, d.weights, threads);
  std::vector<Number> all = d.weights;
  for (std::size_t i = 0; i < coordinates; ++i) {
    all.push_back(problem.output.at(0, i));
    for (const Lanewise<Number>* const part : {&problem.next, &d.state, &d.inputs}) {
      for (std::size_t j = 0; j < part->features(); ++j) all.push_back(part->at(j, i));
    }
  }
  return all;
}

TEST(CoordinateLstm, IsTheSameUnderEachInstructionSet) {
  for (const std::size_t coordinates : {1u, 16u, 77u, 1500u}) {
    for (const std::size_t threads : {1u, 2u}) {
      testing::expect_same_under_each_set([&] { return all_results<double>(coordinates, threads); }, 1e-11);
      testing::expect_same_under_each_set([&] { return all_results<float>(coordinates, threads); }, 1e-3);
    }
  }
}

}  // namespace
}  // namespace ration::protector
