#include "public_data.h"

#include <fmt/format.h>

#include "compare/folds.h"
#include "data/images.h"
#include "data/select_rows.h"
#include "ration/data/table.h"

namespace ration::e5 {
namespace {

Rows pair_rows(const std::string& data, const std::string& part, std::array<int, 2> digits) {
  const std::string folder = data + "/mnist/" + part;
  const data::Images images =
      data::read_idx(folder + "-images-idx3-ubyte.gz", folder + "-labels-idx1-ubyte.gz");
  SparseMatrix matrix;
  matrix.columns = images.pixels_each() + 1;
  std::vector<double> labels;
  for (std::size_t i = 0; i < images.count(); ++i) {
    if (images.labels[i] != digits[0] && images.labels[i] != digits[1]) continue;
    labels.push_back(images.labels[i] == digits[1] ? 1 : 0);
    for (std::size_t p = 0; p < images.pixels_each(); ++p) {
      const std::uint8_t pixel = images.pixels[i * images.pixels_each() + p];
      if (pixel == 0) continue;
      matrix.indices.push_back(static_cast<std::int32_t>(p));
      matrix.values.push_back(pixel / 255.0);
    }
    matrix.indices.push_back(static_cast<std::int32_t>(images.pixels_each()));
    matrix.values.push_back(1);
    matrix.starts.push_back(matrix.indices.size());
  }
  return Rows::build_public(std::move(matrix), std::move(labels));
}

data::Schema pair_schema(std::array<int, 2> digits) {
  data::Schema schema;
  for (int p = 0; p < 28 * 28; ++p) {
    data::Column column;
    column.name = fmt::format("p{}", p);
    column.type = data::ColumnType::number;
    schema.columns.push_back(column);
  }
  data::Column label;
  label.name = schema.label = "digit";
  label.type = data::ColumnType::category;
  for (const int digit : digits) label.categories.push_back(std::to_string(digit));
  schema.columns.push_back(label);
  return schema;
}

}  // namespace

Split PublicData::split(std::size_t repeat) const {
  if (test) return {all, test};
  constexpr std::size_t kFolds = 5;
  const compare::Split rows = compare::Folds(all->count(), kFolds, repeat / kFolds).split(repeat % kFolds);
  const std::span one(all.get(), 1);
  return {std::make_shared<const Rows>(data::select_rows(one, rows.train)),
          std::make_shared<const Rows>(data::select_rows(one, rows.test))};
}

PublicData census(const std::string& name, const std::string& file, const std::string& data,
                  const std::string& examples) {
  PublicData out;
  out.name = name;
  out.schema = data::read_schema(examples + "/" + name + "/schema.toml");
  out.all = std::make_shared<const Rows>(data::read_table(data + "/" + name + "/" + file, out.schema).rows);
  return out;
}

PublicData digit_pair(const std::string& data, std::array<int, 2> digits) {
  PublicData out;
  out.name = fmt::format("MNIST {}/{}", digits[0], digits[1]);
  out.schema = pair_schema(digits);
  out.all = std::make_shared<const Rows>(pair_rows(data, "train", digits));
  out.test = std::make_shared<const Rows>(pair_rows(data, "t10k", digits));
  return out;
}

}  // namespace ration::e5
