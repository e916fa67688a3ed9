#include "support/vectors.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "support/places.h"

namespace ration::testing {
namespace {

struct Tolerance {
  double relative;
  double absolute;
};

Tolerance tolerance_of(const nlohmann::json& vector_case, const std::string& key) {
  const auto& all = vector_case.at("tolerance");
  const auto& own = all.contains(key) ? all.at(key) : all;
  return {own.value("rel", 0.0), own.value("abs", 0.0)};
}

::testing::AssertionResult compare(double got, double expected, Tolerance allowed) {
  const double error = std::abs(got - expected);
  if (error <= allowed.absolute + allowed.relative * std::abs(expected)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << std::scientific << "got " << got << ", expected " << expected << ", error " << error
         << ", allowed rel " << allowed.relative << " abs " << allowed.absolute;
}

}  // namespace

const nlohmann::json& vectors() {
  static const nlohmann::json parsed = [] {
    std::ifstream file(RATION_TEST_DIR "/vectors/public.json");
    if (!file) throw std::runtime_error("tests/vectors/public.json cannot be read");
    return nlohmann::json::parse(file);
  }();
  return parsed;
}

std::vector<nlohmann::json> vector_cases(std::initializer_list<std::string> kinds) {
  std::vector<nlohmann::json> found;
  for (const auto& kind : kinds) {
    const auto before = found.size();
    for (const auto& vector_case : vectors().at("cases")) {
      if (vector_case.at("kind") == kind) found.push_back(vector_case);
    }
    if (found.size() == before) throw std::runtime_error("no test vector of kind " + kind);
  }
  return found;
}

std::vector<double> orders_of(const nlohmann::json& vector_case) {
  const auto& orders = vector_case.at("params").at("orders");
  if (orders.is_string()) return vectors().at("order_grids").at(orders.get<std::string>());
  return orders;
}

::testing::AssertionResult within(const nlohmann::json& vector_case, const std::string& key, double got) {
  const double expected = vector_case.at("expected").at(key);
  return compare(got, expected, tolerance_of(vector_case, key)) << " for " << key;
}

::testing::AssertionResult within(const nlohmann::json& vector_case, const std::string& key,
                                  const std::vector<double>& got) {
  const std::vector<double> expected = vector_case.at("expected").at(key);
  if (got.size() != expected.size()) {
    return ::testing::AssertionFailure() << got.size() << " values for " << expected.size() << " of " << key;
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    auto result = compare(got[i], expected[i], tolerance_of(vector_case, key));
    if (!result) return result << " for " << key << "[" << i << "]";
  }
  return ::testing::AssertionSuccess();
}

std::string test_name(const ::testing::TestParamInfo<nlohmann::json>& info) {
  std::string name = info.param.at("case");
  const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0; };
  std::replace_if(
      name.begin(), name.end(), [&](unsigned char c) { return !allowed(c); }, '_');
  return name + "_" + std::to_string(info.index);
}

}  // namespace ration::testing
