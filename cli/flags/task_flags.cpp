#include "flags/task_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "data/named_data.h"
#include "ration/base/error.h"

namespace ration::cli {
namespace {

void refuse_flags_of_others(
    const std::string& tasks,
    std::initializer_list<std::pair<const char*, const std::optional<std::string>*>> others) {
  for (const auto& [name, flag] : others) {
    if (*flag) throw InputError(fmt::format("--{} is not used by tasks {}; leave it out", name, tasks));
  }
}

GlmLoss read_loss(const TaskFlags& flags) {
  if (!flags.model) return GlmLoss::logistic;
  const auto loss = named<GlmLoss>("--model", *flags.model);
  if (loss == GlmLoss::squared)
    throw InputError(
        "--model: protectors learn to tell classes, and squared fits numbers; use logistic, hinge, "
        "softmax or huber");
  return loss;
}

NamedTasks quadratics(const TaskFlags& flags, double rate) {
  refuse_flags_of_others("quadratic", {{"data", &flags.data},
                                       {"schema", &flags.schema},
                                       {"target", &flags.target},
                                       {"model", &flags.model},
                                       {"pair", &flags.pair}});
  if (rate < 1) throw InputError("--rate: tasks quadratic always use all of their 60 rows; leave it out");
  return {meta::quadratic_tasks(), ""};
}

NamedTasks generated(const TaskFlags& flags, double rate) {
  refuse_flags_of_others("table without --data", {{"schema", &flags.schema}, {"target", &flags.target}});
  if (rate < 1) throw InputError("--rate: generated tables are always used whole; give a table with --data");
  const GlmLoss loss = read_loss(flags);
  if (loss != GlmLoss::logistic && loss != GlmLoss::hinge)
    throw InputError(fmt::format(
        "--model: generated tables have two classes, for logistic or hinge, got '{}'", to_string(loss)));
  return {meta::generated_tasks(loss), ""};
}

std::string read_without_privacy(const std::string& name) {
  return fmt::format(
      "{} is read WITHOUT PRIVACY: what the protector learns from it is not protected. It must be PUBLIC, "
      "and different from the rows that the protector will be used on",
      name);
}

NamedTasks from_rows(const TaskFlags& flags, meta::PublicRows rows, double rate) {
  const GlmLoss loss = read_loss(flags);
  if (rows.classes < 2 || (rows.classes > 2 && loss != GlmLoss::softmax))
    throw InputError(
        fmt::format("--model {}: expected {} classes, got {} in {}; use softmax or another --target",
                    to_string(loss), loss == GlmLoss::softmax ? "at least 2" : "2", rows.classes, rows.name));
  std::string warning = read_without_privacy(rows.name);
  if (rows.drafted_target) {
    warning += fmt::format(
        "; without --schema, bounds and categories were drafted from it too, and the target is column '{}'",
        *rows.drafted_target);
  }
  return {meta::tasks_from(std::move(rows), loss, rate), std::move(warning)};
}

NamedTasks table_of_file(const TaskFlags& flags, double rate) {
  if (flags.pair) throw InputError("--pair is only for --tasks images; leave it out");
  return from_rows(flags, meta::read_public_table(data::find_data(*flags.data), flags.schema, flags.target),
                   rate);
}

std::array<std::uint8_t, 2> read_pair(const TaskFlags& flags) {
  if (!flags.pair) throw InputError("--pair is needed: two classes of the images, such as 4,6");
  const std::string& text = *flags.pair;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() != 3 || text[1] != ',' || !is_digit(text[0]) || !is_digit(text[2]) || text[0] == text[2])
    throw InputError(
        fmt::format("--pair: expected two different classes from 0 to 9, such as 4,6, got '{}'", text));
  return {static_cast<std::uint8_t>(text[0] - '0'), static_cast<std::uint8_t>(text[2] - '0')};
}

NamedTasks pair_of_images(const TaskFlags& flags, double rate) {
  refuse_flags_of_others("images", {{"schema", &flags.schema}, {"target", &flags.target}});
  if (!flags.data) throw InputError("--data is needed: PUBLIC images, mnist:DIR or fashion-mnist");
  const std::string name = data::find_data(*flags.data);
  const data::DataKind kind = data::parse_data_name(name).kind;
  if (kind != data::DataKind::mnist && kind != data::DataKind::fashion_mnist)
    throw InputError(
        fmt::format("--data: expected mnist:DIR or fashion-mnist for tasks images, got '{}'", *flags.data));
  return from_rows(flags, meta::read_public_images(name, read_pair(flags)), rate);
}

}  // namespace

NamedTasks read_tasks(const TaskFlags& flags, double rate) {
  if (!flags.tasks) throw InputError("--tasks is needed: quadratic, table or images");
  switch (named<TaskKind>(*flags.tasks)) {
    case TaskKind::quadratic:
      return quadratics(flags, rate);
    case TaskKind::table:
      return flags.data ? table_of_file(flags, rate) : generated(flags, rate);
    case TaskKind::images:
      break;
  }
  return pair_of_images(flags, rate);
}

}  // namespace ration::cli
