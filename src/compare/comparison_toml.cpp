// Comparisons from TOML. Every complaint names file, line and key.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/quote.h"
#include "compare/comparison.h"
#include "ration/base/error.h"
#include "train/plan_files.h"

namespace ration::compare {
namespace {

// What the comparison itself decides for every plan.
bool is_the_comparisons(std::string_view key) {
  constexpr std::string_view kOurs[] = {
      "data",    "schema", "target", "unit",      "rows_per_unit",    "units",     "rows",
      "epsilon", "delta",  "ledger", "data_hash", "checkpoint_every", "on_bad_row"};
  return std::find(std::begin(kOurs), std::end(kOurs), key) != std::end(kOurs);
}

std::string names_of_plan_keys() {
  std::vector<std::string_view> names;
  for (const PlanKey& key : plan_keys()) {
    if (!is_the_comparisons(key.name)) names.push_back(key.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// A table of the file in the order in which it was written.
std::vector<std::pair<const toml::key*, const toml::node*>> in_order(const toml::table& table) {
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    const auto place = [](const toml::key* key) {
      return std::pair(key->source().begin.line, key->source().begin.column);
    };
    return place(a.first) < place(b.first);
  });
  return entries;
}

class Reader {
 public:
  explicit Reader(std::string file)
      : file_(std::move(file)), folder_((std::filesystem::path(file_).parent_path() / ".").string()) {}

  Comparison read(const toml::table& root) {
    for (const auto& [key, node] : in_order(root)) read_top(key->str(), where(*key), *node);
    return std::move(out_);
  }

 private:
  void read_top(std::string_view key, const std::string& at, const toml::node& node) {
    if (key == "public") return void(out_.is_public = yes_or_no(at, node));
    if (key == "epsilons") return read_epsilons(at, node);
    if (key == "delta") return void(out_.delta = number(at, node));
    if (key == "folds") return void(out_.folds = count(at, node));
    if (key == "repeats") return void(out_.repeats = count(at, node));
    if (key == "plan") return read_plan_keys(at, node);
    if (key == "data") return each(at, node, &Reader::read_data);
    if (key == "models") return each(at, node, &Reader::read_model);
    if (key == "methods") return each(at, node, &Reader::read_method);
    refuse(at,
           "unknown key; expected public, epsilons, delta, folds, repeats, plan, data, models or methods");
  }

  void read_epsilons(const std::string& at, const toml::node& node) {
    if (!node.is_array()) refuse(at, "expected a list of numbers");
    for (const toml::node& item : *node.as_array()) out_.epsilons.push_back(number(at, item));
  }

  void read_plan_keys(const std::string& at, const toml::node& node) {
    for (const auto& [key, value] : in_order(table(at, node))) add_setting(out_.plan, *key, *value, "");
  }

  void read_data(const std::string& name, const toml::table& keys) {
    DataSet set{.name = name, .files = {}, .schema = {}, .beside = folder_};
    for (const auto& [key, node] : in_order(keys)) {
      const std::string at = where(*key);
      if (*key == "files") {
        set.files = texts(at, *node);
      } else if (*key == "schema") {
        set.schema = text(at, *node);
      } else if (*key == "by_default") {
        set.by_default = yes_or_no(at, *node);
      } else {
        refuse(at, "unknown key; expected files, schema or by_default");
      }
    }
    out_.data.push_back(std::move(set));
  }

  void read_model(const std::string& name, const toml::table& keys) {
    ModelChoice model{.name = name, .settings = {}, .smooth = {}};
    for (const auto& [key, node] : in_order(keys)) {
      const std::string at = where(*key);
      if (*key == "by_default") {
        model.by_default = yes_or_no(at, *node);
      } else if (*key == "smooth") {
        model.smooth.emplace();
        for (const auto& [inner, value] : in_order(table(at, *node)))
          add_setting(*model.smooth, *inner, *value, "");
      } else {
        add_setting(model.settings, *key, *node, "smooth, by_default");
      }
    }
    name_itself(model.settings, "model", name, keys);
    out_.models.push_back(std::move(model));
  }

  void read_method(const std::string& name, const toml::table& keys) {
    MethodChoice method{.name = name, .settings = {}};
    std::optional<bool> is_private;
    for (const auto& [key, node] : in_order(keys)) {
      const std::string at = where(*key);
      if (*key == "smooth") {
        method.smooth = yes_or_no(at, *node);
      } else if (*key == "private") {
        is_private = yes_or_no(at, *node);
      } else if (*key == "by_default") {
        method.by_default = yes_or_no(at, *node);
      } else {
        add_setting(method.settings, *key, *node, "smooth, private, by_default");
      }
    }
    const std::string trained_by = name_itself(method.settings, "method", name, keys);
    method.is_private = is_private.value_or(find_named<MethodKind>(trained_by) != MethodKind::nonprivate);
    out_.methods.push_back(std::move(method));
  }

  // Without the key, the name of the table is its value; returns the value.
  std::string name_itself(Settings& settings, const std::string& key, const std::string& name,
                          const toml::table& keys) const {
    for (const Setting& setting : settings) {
      if (setting.key == key) return setting.text;
    }
    settings.insert(settings.begin(), {key, name, where(key, keys.source())});
    return name;
  }

  void add_setting(Settings& settings, const toml::key& key, const toml::node& node,
                   std::string_view ours) const {
    const std::string name(key.str());
    const std::string at = where(key);
    if (is_the_comparisons(name)) refuse(at, "the comparison decides this for every method; leave it out");
    const auto known = [&](const PlanKey& plan_key) { return plan_key.name == name; };
    if (std::none_of(plan_keys().begin(), plan_keys().end(), known)) {
      refuse(at, fmt::format("unknown key; expected {}{}{}", ours,
                             ours.empty() ? "" : ", or one of a plan: ", names_of_plan_keys()));
    }
    std::string value = plan_text(at, node);
    if (names_plan_file(name, value)) value = path_seen_from(folder_, value);
    settings.push_back({name, std::move(value), at});
  }

  void each(const std::string& at, const toml::node& node,
            void (Reader::*read_one)(const std::string&, const toml::table&)) {
    for (const auto& [key, value] : in_order(table(at, node)))
      (this->*read_one)(std::string(key->str()), table(where(*key), *value));
  }

  // --- values

  const toml::table& table(const std::string& at, const toml::node& node) const {
    if (!node.is_table()) refuse(at, "expected a table");
    return *node.as_table();
  }
  std::string text(const std::string& at, const toml::node& node) const {
    const auto value = node.value_exact<std::string>();
    if (!value) refuse(at, "expected a text");
    return *value;
  }
  std::vector<std::string> texts(const std::string& at, const toml::node& node) const {
    if (!node.is_array()) return {text(at, node)};
    std::vector<std::string> all;
    for (const toml::node& item : *node.as_array()) all.push_back(text(at, item));
    return all;
  }
  double number(const std::string& at, const toml::node& node) const {
    if (!node.is_number()) refuse(at, "expected a number");
    return *node.value<double>();
  }
  std::size_t count(const std::string& at, const toml::node& node) const {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < 1) refuse(at, "expected a whole number >= 1");
    return static_cast<std::size_t>(*value);
  }
  bool yes_or_no(const std::string& at, const toml::node& node) const {
    const auto value = node.value_exact<bool>();
    if (!value) refuse(at, "expected true or false");
    return *value;
  }
  // The value as the text a flag would have.
  std::string plan_text(const std::string& at, const toml::node& node) const {
    if (const auto value = node.value_exact<std::string>()) return *value;
    if (const auto value = node.value_exact<std::int64_t>()) return std::to_string(*value);
    if (const auto value = node.value_exact<double>()) return show(*value);
    if (const auto value = node.value_exact<bool>()) return *value ? "true" : "false";
    refuse(at, "expected a text, a number, true or false");
  }

  std::string where(std::string_view key, const toml::source_region& source) const {
    return fmt::format("{}:{}: {}", file_, source.begin.line, one_short_line(key));
  }
  std::string where(const toml::key& key) const { return where(key.str(), key.source()); }

  [[noreturn]] static void refuse(const std::string& at, std::string_view rule) {
    throw InputError(fmt::format("{}: {}", at, rule));
  }

  std::string file_;
  std::string folder_;
  Comparison out_;
};

}  // namespace

Comparison parse_comparison(std::string_view toml, const std::string& file) {
  try {
    const toml::table root = toml::parse(toml, file);
    return Reader(file).read(root);
  } catch (const toml::parse_error& error) {
    throw InputError(
        fmt::format("{}:{}: {}", file, error.source().begin.line, one_short_line(error.description())));
  }
}

Comparison read_comparison(const std::string& path) {
  return parse_comparison(read_file(path), path);
}

}  // namespace ration::compare
