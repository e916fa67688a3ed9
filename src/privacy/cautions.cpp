#include "privacy/cautions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace ration {
namespace {

constexpr double kLargeEpsilon = 10;
constexpr double kLargeDelta = 1e-4;  // where the number of rows is unknown
constexpr double kFar = 0.1;          // of the declared number
constexpr double kNoise = 10;         // scales; a Laplace draw is beyond with probability e^-10

}  // namespace

std::vector<std::string> cautions_for(const Budget& guarantee, std::optional<double> rows) {
  std::vector<std::string> list;
  if (guarantee.epsilon > kLargeEpsilon) {
    list.push_back(
        fmt::format("epsilon {} is above {}: it bounds what can be learned about a row by a factor of e^{}, "
                    "which protects little",
                    show_rounded_up(guarantee.epsilon), kLargeEpsilon, show_rounded_up(guarantee.epsilon)));
  }
  if (rows && guarantee.delta * *rows >= 1) {
    list.push_back(
        fmt::format("delta is not below 1 / rows: even publishing a whole row would meet this guarantee "
                    "(delta {}, {:.0f} "
                    "rows)",
                    show_rounded_up(guarantee.delta), *rows));
  }
  return list;
}

std::vector<std::string> cautions_before_rows(const Budget& guarantee, std::optional<double> rows) {
  std::vector<std::string> list = cautions_for(guarantee, rows);
  if (!rows && guarantee.delta > kLargeDelta) {
    list.push_back(fmt::format(
        "delta {} is above {}, and how many rows there are is not known: from {:.0f} rows on, even "
        "publishing a whole row would meet this guarantee; choose delta well below 1 / rows",
        show_rounded_up(guarantee.delta), show(kLargeDelta), std::ceil(1 / guarantee.delta)));
  }
  return list;
}

std::string caution_on_declared_rows(double declared, double counted, double noise_scale) {
  if (std::abs(counted - declared) <= std::max(kFar * declared, kNoise * noise_scale)) return "";
  return fmt::format("the run declared {:.0f} rows, but a noisy count of them says about {:.0f}", declared,
                     counted);
}

}  // namespace ration
