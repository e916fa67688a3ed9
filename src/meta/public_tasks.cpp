#include "meta/public_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "data/content_hash.h"
#include "data/images.h"
#include "data/named_data.h"
#include "data/schema_draft.h"

namespace ration::meta {
namespace {

ProtectorOrigin origin_of(std::string tasks, std::string_view model, std::vector<std::string> hashes = {}) {
  ProtectorOrigin origin;
  origin.tasks = std::move(tasks);
  origin.model = model;
  origin.data_hashes = std::move(hashes);
  return origin;
}

data::Schema draft(const std::string& file, const std::string& target,
                   const std::vector<std::string>& column_names) {
  const bool named = data::first_line_names_columns(file);
  return data::parse_schema(
      data::draft_schema(file, target, named ? std::vector<std::string>() : column_names), file);
}

// Of the whole, and of each file.
std::vector<std::string> hashes_of(const std::string& name) {
  const std::vector<std::string> files = data::files_of(name);
  std::vector<std::string> hashes = data::content_hashes(files);
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  return hashes;
}

data::Images only(const data::Images& all, const std::array<std::uint8_t, 2>& classes) {
  data::Images some{
      .channels = all.channels, .height = all.height, .width = all.width, .pixels = {}, .labels = {}};
  for (std::size_t i = 0; i < all.count(); ++i) {
    if (all.labels[i] != classes[0] && all.labels[i] != classes[1]) continue;
    some.labels.push_back(all.labels[i] == classes[0] ? 0 : 1);
    const auto begin = all.pixels.begin() + static_cast<std::ptrdiff_t>(i * all.pixels_each());
    some.pixels.insert(some.pixels.end(), begin, begin + static_cast<std::ptrdiff_t>(all.pixels_each()));
  }
  return some;
}

}  // namespace

PublicTasks quadratic_tasks() {
  return {random_quadratics({2, 2}), origin_of("quadratic", "quadratic"), 0};
}

PublicTasks generated_tasks(GlmLoss loss) {
  return {generated_tables({.loss = loss}), origin_of("generated tables", to_string(loss)), 0};
}

PublicRows read_public_table(const std::string& name, const std::optional<std::string>& schema_file,
                             const std::optional<std::string>& target) {
  std::optional<std::string> drafted;
  std::optional<data::Schema> schema = data::schema_of_data(name);
  if (!schema && schema_file) {
    schema = data::read_schema(*schema_file);
    if (target) schema->label = *target;
  } else if (!schema) {
    const std::vector<std::string> columns = data::column_names(name);
    drafted = target.value_or(columns.back());
    schema = draft(name, *drafted, columns);
  }
  return {.tasks = "table",
          .name = name,
          .table = data::read_table(name, *schema),
          .classes = schema->classes(),
          .drafted_target = std::move(drafted)};
}

PublicRows read_public_images(const std::string& name, const std::array<std::uint8_t, 2>& classes) {
  const std::vector<std::string> files = data::files_of(name);
  data::Schema schema = *data::schema_of_data(name);
  auto& categories = schema.columns[schema.label_index()].categories;
  categories = {categories[classes[0]], categories[classes[1]]};
  return {.tasks = fmt::format("images, classes {},{}", classes[0], classes[1]),
          .name = name,
          .table = data::image_table(only(data::read_idx(files.at(0), files.at(1)), classes), schema),
          .classes = 2};
}

PublicTasks tasks_from(PublicRows rows, GlmLoss loss, double rate) {
  auto shared = std::make_shared<const Rows>(std::move(rows.table.rows));
  const auto count = static_cast<double>(shared->count());
  constexpr std::size_t kMostRows = 4'000;  // for speed; the noise is as for all of them
  return {halves_of(std::move(shared), {.loss = loss, .classes = rows.classes}, rate, kMostRows),
          origin_of(std::move(rows.tasks), to_string(loss), hashes_of(rows.name)), count};
}

}  // namespace ration::meta
