#include "flags/task_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/read_number.h"
#include "data/content_hash.h"
#include "data/images.h"
#include "data/named_data.h"
#include "data/schema_draft.h"
#include "ration/base/error.h"
#include "ration/data/table.h"
#include "ration/train/resolve.h"

namespace ration::cli {
namespace {

void refuse_flags_of_others(
    const std::string& tasks,
    std::initializer_list<std::pair<const char*, const std::optional<std::string>*>> others) {
  for (const auto& [name, flag] : others) {
    if (*flag) throw InputError(fmt::format("--{} is not used by tasks {}; leave it out", name, tasks));
  }
}

ProtectorOrigin origin_of(std::string tasks, std::string_view model, std::vector<std::string> hashes = {}) {
  ProtectorOrigin origin;
  origin.tasks = std::move(tasks);
  origin.model = model;
  origin.data_hashes = std::move(hashes);
  return origin;
}

GlmLoss read_loss(const TaskFlags& flags) {
  const std::string name = flags.model.value_or("logistic");
  const std::vector<std::string> known = names_of_task_models();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw InputError(fmt::format("--model: expected one of {}, got '{}'", fmt::join(known, ", "), name));
  return glm_loss_named(name);
}

PublicTasks quadratics(const TaskFlags& flags, double rate) {
  refuse_flags_of_others("quadratic", {{"data", &flags.data},
                                       {"schema", &flags.schema},
                                       {"target", &flags.target},
                                       {"model", &flags.model},
                                       {"pair", &flags.pair}});
  if (rate < 1) throw InputError("--rate: tasks quadratic always use all of their 60 rows; leave it out");
  return {meta::random_quadratics({2, 2}), origin_of("quadratic", "quadratic"), 0,
          ""};  // as in experiment E5
}

PublicTasks generated(const TaskFlags& flags, double rate) {
  refuse_flags_of_others("table without --data", {{"schema", &flags.schema}, {"target", &flags.target}});
  if (rate < 1) throw InputError("--rate: generated tables are always used whole; give a table with --data");
  const GlmLoss loss = read_loss(flags);
  if (loss != GlmLoss::logistic && loss != GlmLoss::hinge)
    throw InputError(fmt::format(
        "--model: generated tables have two classes, for logistic or hinge, got '{}'", to_string(loss)));
  return {meta::generated_tables({.loss = loss}), origin_of("generated tables", to_string(loss)), 0, ""};
}

// --- rows from files

std::string read_without_privacy(const std::string& name) {
  return fmt::format(
      "{} is read WITHOUT PRIVACY: what the protector learns from it is not protected. It must be PUBLIC, "
      "and different from the rows that the protector will be used on",
      name);
}

data::Schema drafted(const std::string& file, const TaskFlags& flags, std::string& warning) {
  const std::vector<std::string> names = data::column_names(file);
  const std::string target = flags.target.value_or(names.back());
  warning += fmt::format(
      "; without --schema, bounds and categories were drafted from it too, and the target is column '{}'",
      target);
  return data::parse_schema(
      data::draft_schema(file, target,
                         data::first_line_names_columns(file) ? std::vector<std::string>() : names),
      file);
}

data::Schema schema_for(const std::string& file, const TaskFlags& flags, std::string& warning) {
  if (const auto own = data::schema_of_data(file)) return *own;
  if (!flags.schema) return drafted(file, flags, warning);
  data::Schema schema = data::read_schema(*flags.schema);
  if (flags.target) schema.label = *flags.target;
  return schema;
}

PublicTasks from_rows(const TaskFlags& flags, const std::string& tasks, const std::string& file,
                      data::Table table, std::size_t classes, double rate, std::string warning) {
  const GlmLoss loss = read_loss(flags);
  if (classes < 2 || (classes > 2 && loss != GlmLoss::softmax))
    throw InputError(
        fmt::format("--model {}: expected {} classes, got {} in {}; use softmax or another --target",
                    to_string(loss), loss == GlmLoss::softmax ? "at least 2" : "2", classes, file));
  std::vector<std::string> hashes{data::content_hash(data::files_of(file))};
  for (const std::string& one : data::files_of(file)) hashes.push_back(data::content_hash(one));
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  auto rows = std::make_shared<const Rows>(std::move(table.rows));
  const auto count = static_cast<double>(rows->count());
  constexpr std::size_t kMostRows = 4'000;  // for speed; the noise is as for all of them
  return {meta::halves_of(std::move(rows), {.loss = loss, .classes = classes}, rate, kMostRows),
          origin_of(tasks, to_string(loss), std::move(hashes)), count, std::move(warning)};
}

PublicTasks table_of_file(const TaskFlags& flags, double rate) {
  if (flags.pair) throw InputError("--pair is only for --tasks images; leave it out");
  const std::string file = data::find_data(*flags.data);
  std::string warning = read_without_privacy(file);
  const data::Schema schema = schema_for(file, flags, warning);
  return from_rows(flags, "table", file, data::read_table(file, schema), schema.classes(), rate,
                   std::move(warning));
}

struct Pair {
  std::uint8_t first, second;
};

Pair read_pair(const TaskFlags& flags) {
  if (!flags.pair) throw InputError("--pair is needed: two classes of the images, such as 4,6");
  const std::string& text = *flags.pair;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() != 3 || text[1] != ',' || !is_digit(text[0]) || !is_digit(text[2]) || text[0] == text[2])
    throw InputError(
        fmt::format("--pair: expected two different classes from 0 to 9, such as 4,6, got '{}'", text));
  return {static_cast<std::uint8_t>(text[0] - '0'), static_cast<std::uint8_t>(text[2] - '0')};
}

// The images of two classes, which become 0 and 1.
data::Images only(const data::Images& all, const Pair& pair) {
  data::Images some{
      .channels = all.channels, .height = all.height, .width = all.width, .pixels = {}, .labels = {}};
  for (std::size_t i = 0; i < all.count(); ++i) {
    if (all.labels[i] != pair.first && all.labels[i] != pair.second) continue;
    some.labels.push_back(all.labels[i] == pair.first ? 0 : 1);
    const auto begin = all.pixels.begin() + static_cast<std::ptrdiff_t>(i * all.pixels_each());
    some.pixels.insert(some.pixels.end(), begin, begin + static_cast<std::ptrdiff_t>(all.pixels_each()));
  }
  return some;
}

PublicTasks pair_of_images(const TaskFlags& flags, double rate) {
  refuse_flags_of_others("images", {{"schema", &flags.schema}, {"target", &flags.target}});
  if (!flags.data) throw InputError("--data is needed: PUBLIC images, mnist:DIR or fashion-mnist");
  const std::string name = data::find_data(*flags.data);
  const data::DataKind kind = data::parse_data_name(name).kind;
  if (kind != data::DataKind::mnist && kind != data::DataKind::fashion_mnist)
    throw InputError(
        fmt::format("--data: expected mnist:DIR or fashion-mnist for tasks images, got '{}'", *flags.data));
  const Pair pair = read_pair(flags);
  const std::vector<std::string> files = data::files_of(name);
  data::Schema schema = *data::schema_of_data(name);
  auto& categories = schema.columns[schema.label_index()].categories;
  categories = {categories[pair.first], categories[pair.second]};
  data::Table table = data::image_table(only(data::read_idx(files.at(0), files.at(1)), pair), schema);
  return from_rows(flags, fmt::format("images, classes {}", *flags.pair), name, std::move(table), 2, rate,
                   read_without_privacy(name));
}

}  // namespace

std::vector<std::string> names_of_tasks() {
  return {"quadratic", "table", "images"};
}

std::vector<std::string> names_of_task_models() {
  return {"logistic", "hinge", "huber", "softmax"};
}

PublicTasks read_tasks(const TaskFlags& flags, double rate) {
  if (!flags.tasks) throw InputError("--tasks is needed: quadratic, table or images");
  if (*flags.tasks == "quadratic") return quadratics(flags, rate);
  if (*flags.tasks == "table") return flags.data ? table_of_file(flags, rate) : generated(flags, rate);
  if (*flags.tasks == "images") return pair_of_images(flags, rate);
  throw InputError(fmt::format("--tasks: expected quadratic, table or images, got '{}'", *flags.tasks));
}

}  // namespace ration::cli
