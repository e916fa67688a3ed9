#include "ration/train/intervals.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "base/check.h"
#include "data/one_hot_groups.h"
#include "ration/base/error.h"
#include "train/evaluation.h"
#include "train/model_shape.h"

namespace ration {
namespace {

using Matrix = Eigen::MatrixXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

Eigen::Index index(std::size_t size) {
  return static_cast<Eigen::Index>(size);
}

// Deviations to either side.
double half_width(double level) {
  require("intervals", "level", level, greater_than(0).less_than(1));
  return boost::math::quantile(boost::math::normal_distribution<double>(), (1 + level) / 2);
}

// Where the upper triangle over outputs has the entry (a, b), a <= b.
std::size_t place(std::size_t a, std::size_t b, std::size_t outputs) {
  return a * outputs - a * (a + 1) / 2 + b;
}

struct Range {
  double low, high;

  void hold(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// Weights as they can be told: of columns whose sum is 1 only differences can, so their mean is the bias's.
void give_means_to_bias(const std::vector<data::OneHotGroup>& groups, std::span<double> weights) {
  for (const data::OneHotGroup& group : groups) {
    const auto members = weights.subspan(group.first, group.count);
    double mean = 0;
    for (const double weight : members) mean += weight / static_cast<double>(group.count);
    for (double& weight : members) weight -= mean;
    weights.back() += mean;
  }
}

void give_all_means_to_bias(const data::Schema& schema, std::size_t columns, std::vector<double>& weights) {
  if (!schema.bias) return;
  const auto groups = data::one_hot_groups(schema);
  for (std::size_t first = 0; first < weights.size(); first += columns)
    give_means_to_bias(groups, std::span(weights).subspan(first, columns));
}

double variance_of(const WeightNoise& noise, std::size_t columns, std::size_t output, std::size_t outputs,
                   std::size_t column) {
  const std::size_t triangle = outputs * (outputs + 1) / 2;
  double variance = 0;
  for (std::size_t d = 0; d < noise.directions; ++d) {
    const double factor = noise.factor[d * columns + column];
    variance += factor * factor * noise.covariance[d * triangle + place(output, output, outputs)];
  }
  return std::max(0.0, variance);
}

// The outputs of one row, and how noise moves them together.
class NoisyOutputs {
 public:
  explicit NoisyOutputs(const Model& model)
      : outputs_(outputs(model)),
        noise_(*model.noise),
        columns_(model.weights.size() / outputs_),
        factor_(Eigen::Map<const RowMatrix>(noise_.factor.data(), index(noise_.directions), index(columns_))),
        along_(index(noise_.directions)) {}

  void look_at(const Model& model, const Rows& rows, std::size_t row) {
    plain_.assign(outputs_, 0.0);
    centre_.assign(outputs_, 0.0);
    along_.setZero();
    rows.for_each_entry(row, [&](std::size_t column, double value) {
      if (value == 0) return;
      along_ += value * factor_.col(index(column));
      for (std::size_t a = 0; a < outputs_; ++a) {
        plain_[a] += value * model.weights[a * columns_ + column];
        centre_[a] += value * noise_.centre[a * columns_ + column];
      }
    });
  }

  const std::vector<double>& plain() const { return plain_; }
  const std::vector<double>& centre() const { return centre_; }

  // Of a combination of outputs.
  double stddev(const std::vector<double>& weights) const {
    const std::size_t triangle = outputs_ * (outputs_ + 1) / 2;
    double variance = 0;
    for (std::size_t d = 0; d < noise_.directions; ++d) {
      double here = 0;
      for (std::size_t a = 0; a < outputs_; ++a) {
        for (std::size_t b = a; b < outputs_; ++b) {
          const double both =
              weights[a] * weights[b] * noise_.covariance[d * triangle + place(a, b, outputs_)];
          here += a == b ? both : 2 * both;
        }
      }
      variance += along_[index(d)] * along_[index(d)] * here;
    }
    return std::sqrt(std::max(0.0, variance));
  }

 private:
  std::size_t outputs_;
  const WeightNoise& noise_;
  std::size_t columns_;
  Matrix factor_;
  Vector along_;
  std::vector<double> plain_, centre_;
};

// How likely a class is against all others together, as a logarithm; and how that turns with the outputs.
double log_odds(const std::vector<double>& outputs, std::size_t of_class, std::vector<double>* slopes) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < outputs.size(); ++j) {
    if (j != of_class) largest = std::max(largest, outputs[j]);
  }
  double others = 0;
  for (std::size_t j = 0; j < outputs.size(); ++j) {
    if (j != of_class) others += std::exp(outputs[j] - largest);
  }
  if (slopes != nullptr) {
    slopes->resize(outputs.size());
    for (std::size_t j = 0; j < outputs.size(); ++j)
      (*slopes)[j] = j == of_class ? 1 : -std::exp(outputs[j] - largest) / others;
  }
  return outputs[of_class] - largest - std::log(others);
}

double sigmoid(double z) {
  return 1 / (1 + std::exp(-z));
}

PredictionInterval of_value(const NoisyOutputs& row, double width, double prediction) {
  const double reach = width * row.stddev({1});
  Range interval{row.centre()[0] - reach, row.centre()[0] + reach};
  interval.hold(prediction);
  return {prediction, prediction, interval.low, interval.high};
}

PredictionInterval of_class(const NoisyOutputs& row, double width, double prediction) {
  double plain = 0;
  double centre = 0;
  double reach = 0;
  if (row.plain().size() == 1) {
    const double sign = prediction > 0 ? 1 : -1;
    plain = sign * row.plain()[0];
    centre = sign * row.centre()[0];
    reach = width * row.stddev({1});
  } else {
    std::vector<double> slopes;
    const auto chosen = static_cast<std::size_t>(prediction);
    plain = log_odds(row.plain(), chosen, nullptr);
    centre = log_odds(row.centre(), chosen, &slopes);
    reach = width * row.stddev(slopes);
  }
  Range interval{centre - reach, centre + reach};
  interval.hold(plain);
  return {prediction, sigmoid(plain), sigmoid(interval.low), sigmoid(interval.high)};
}

void require_intervals(const Model& model) {
  if (!model.network.empty()) {
    throw InputError(
        "intervals: the model is a network, whose noise is not known; linear models of method auto have "
        "intervals");
  }
  if (model.loss == GlmLoss::hinge || model.loss == GlmLoss::huber) {
    throw InputError(
        fmt::format("intervals: loss {} has no probabilities; logistic and softmax have, and squared has "
                    "intervals of values ('ration coefficients' works for all)",
                    to_string(model.loss)));
  }
  if (!model.noise) {
    throw InputError(
        "intervals: the model does not say what noise did to it; method auto of this version does, train by "
        "that");
  }
}

}  // namespace

std::vector<Coefficient> coefficients(const Model& model, double level) {
  const double width = half_width(level);
  require_sound(model);
  if (!model.network.empty())
    throw InputError("coefficients: the model is a network, whose weights belong to no column");
  const std::size_t count = outputs(model);
  const std::size_t columns = model.weights.size() / count;
  std::vector<double> weights = model.weights;
  give_all_means_to_bias(model.schema, columns, weights);
  WeightNoise noise = model.noise.value_or(WeightNoise{});
  give_all_means_to_bias(model.schema, columns, noise.centre);
  give_all_means_to_bias(model.schema, columns, noise.factor);
  const std::vector<data::EncodedColumn> names = data::encoded_columns(model.schema);
  const std::vector<std::string> classes = model.schema.class_names();
  std::vector<Coefficient> out;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t output = i / columns;
    const data::EncodedColumn& name = names[i % columns];
    Coefficient one{name.column, name.category, count > 1 ? classes[output] : "", weights[i], {}, {}};
    if (model.noise) {
      const double reach = width * std::sqrt(variance_of(noise, columns, output, count, i % columns));
      Range interval{noise.centre[i] - reach, noise.centre[i] + reach};
      interval.hold(weights[i]);
      one.low = interval.low;
      one.high = interval.high;
    }
    out.push_back(std::move(one));
  }
  const bool has_bias = model.schema.bias;
  std::stable_sort(out.begin(), out.end(), [has_bias](const Coefficient& a, const Coefficient& b) {
    const auto is_bias = [has_bias](const Coefficient& c) { return has_bias && c.column == "(bias)"; };
    return std::pair(is_bias(a), -std::abs(a.value)) < std::pair(is_bias(b), -std::abs(b.value));
  });
  return out;
}

std::vector<PredictionInterval> predict_with_intervals(const Model& model, const data::Table& table,
                                                       double level) {
  const double width = half_width(level);
  require_intervals(model);
  const std::vector<double> predictions = predict(model, table);
  const auto rows = rows_for(model, table);
  NoisyOutputs row_outputs(model);
  std::vector<PredictionInterval> out;
  for (std::size_t row = 0; row < predictions.size(); ++row) {
    row_outputs.look_at(model, *rows, row);
    if (model.classes > 0) {
      out.push_back(of_class(row_outputs, width, predictions[row]));
      continue;
    }
    PredictionInterval one = of_value(row_outputs, width, predictions[row]);
    const data::Column& label = model.schema.label_column();
    one.low = std::clamp(one.low, label.low, label.high);
    one.high = std::clamp(one.high, label.low, label.high);
    out.push_back(one);
  }
  return out;
}

}  // namespace ration
