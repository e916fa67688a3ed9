#include "ration/train/choices.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "ration/base/error.h"
#include "ration/objectives/network.h"

namespace ration {
namespace {

// A model's name may begin with how it sees images.
constexpr std::string_view kScattered = "scatter+softmax";

}  // namespace

std::span<const NameAndHelp> ModelName::choices() {
  static const std::vector<NameAndHelp> all = [] {
    std::vector<NameAndHelp> choices;
    choices.push_back(
        {std::string(kAuto),
         "By what the schema says of rows and label: logistic for two classes, softmax for more, squared for "
         "a number, scatter+softmax for images."});
    for (const NamedValue<GlmLoss>& loss : kGlmLosses)
      choices.push_back({std::string(loss.name), std::string(loss.help)});
    choices.push_back({std::string(kScattered), "Softmax regression on scattering features of images."});
    return choices;
  }();
  return all;
}

ModelName::ModelName(std::string_view where, std::string_view name) : name_(name) {
  if (name == kAuto) {
    kind_ = Kind::open;
    return;
  }
  if (const auto loss = find_named<GlmLoss>(name)) {
    loss_ = *loss;
    return;
  }
  loss_ = GlmLoss::softmax;
  if (name == kScattered) {
    kind_ = Kind::scattered;
    return;
  }
  if (ration::is_network(name)) {
    kind_ = Kind::network;
    return;
  }
  std::vector<std::string_view> names;
  for (const NameAndHelp& choice : choices()) names.push_back(choice.name);
  const std::vector<std::string> networks = network_names();
  names.insert(names.end(), networks.begin(), networks.end());
  refuse_name(where, names, name);
}

GlmLoss ModelName::loss() const {
  if (is_auto()) throw InternalError("model: auto has no loss before it is resolved");
  return loss_;
}

ScheduleName::ScheduleName(std::string_view where, std::string_view name) {
  if (is_path(name)) {
    file_ = name;
    return;
  }
  if (name == "influence:estimated") {
    throw InputError(fmt::format(
        "{}: influence:estimated is measured on public rows first: 'ration schedule --shape "
        "influence:estimated --data PUBLIC.csv --schema SCHEMA.toml ... --out schedule.csv', then "
        "--method dpsgd --schedule schedule.csv",
        where));
  }
  const auto kind = find_named<ScheduleKind>(name);
  if (!kind) refuse_name(where, names_of<ScheduleKind>(), name, ", or a file such as ./schedule.csv");
  kind_ = *kind;
}

ScheduleName ScheduleName::of_file(std::string path) {
  ScheduleName out(ScheduleKind::uniform);
  out.file_ = std::move(path);
  return out;
}

}  // namespace ration
