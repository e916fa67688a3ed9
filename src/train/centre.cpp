#include "train/centre.h"

#include <numeric>
#include <utility>

namespace ration {

Rows centred(Rows rows, std::span<const double> mean) {
  std::vector<double> offset(mean.begin(), mean.end());
  if (!offset.empty()) offset.back() = 0;
  return std::move(rows).less(offset);
}

void for_plain_rows(std::span<const double> mean, std::span<double> weights) {
  const std::size_t columns = mean.size();
  for (std::size_t first = 0; first < weights.size(); first += columns) {
    const auto of_output = weights.subspan(first, columns);
    of_output.back() -= std::inner_product(mean.begin(), mean.end() - 1, of_output.begin(), 0.0);
  }
}

}  // namespace ration
