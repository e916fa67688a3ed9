// E6 on made-up tables: auto beside what is possible without privacy, beside simple methods, and beside who
// knows nothing. The constants of auto are chosen on these (docs/results/e6.md).
//   e6 STAGE [REPEATS [EPSILON,...]]     STAGE: families, losses or wide; Markdown tables to standard output
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "e6/adassp.h"
#include "e6/made_up.h"
#include "e6/trial.h"

namespace ration::e6 {
namespace {

struct Settings {
  std::size_t repeats = 3;
  std::vector<double> epsilons{0.1, 1};
};

void print_header(const char* first, const Settings& settings) {
  fmt::print("| {} | method |", first);
  for (const double epsilon : settings.epsilons) fmt::print(" {} |", epsilon);
  fmt::print("\n|---|---|");
  for (std::size_t i = 0; i < settings.epsilons.size(); ++i) fmt::print("---|");
  fmt::print("\n");
}

// The mean over tables of the family, one for each repeat.
void print_row(const std::string& name, const std::string& method, const Family& family,
               const Settings& settings, const std::function<double(const MadeUp&, double)>& score) {
  fmt::print("| {} | {} |", name, method);
  for (const double epsilon : settings.epsilons) {
    double sum = 0;
    for (std::size_t repeat = 1; repeat <= settings.repeats; ++repeat)
      sum += score(make_up(family, repeat), epsilon);
    fmt::print(" {:.1f} |", sum / static_cast<double>(settings.repeats));
  }
  fmt::print("\n");
  std::fflush(stdout);
}

void print_method(const Family& family, const std::string& model, const std::string& method,
                  const Settings& settings, const std::string& relation = "add_remove") {
  const std::string suffix = relation == "add_remove" ? "" : ", " + relation;
  print_row(family.name + ", " + model, method + suffix, family, settings,
            [&](const MadeUp& table, double epsilon) {
              return score_of({.method = method, .model = model, .epsilon = epsilon, .relation = relation},
                              table);
            });
}

void print_majority(const Family& family, const Settings& settings) {
  print_row(family.name, "knows nothing", family, settings,
            [](const MadeUp& table, double) { return score_of_majority(table); });
}

void print_families(const Settings& settings) {
  print_header("family", settings);
  for (const Family& family : families()) {
    print_majority(family, settings);
    for (const char* const method : {"nonprivate", "dpsgd", "auto"})
      print_method(family, "logistic", method, settings);
  }
}

void print_losses(const Settings& settings) {
  print_header("table", settings);
  for (const std::string model : {"logistic", "hinge", "huber"}) {
    for (const std::string relation : {"add_remove", "replace_one"})
      print_method(families()[0], model, "auto", settings, relation);
  }
  const Family ten = ten_classes();
  print_majority(ten, settings);
  for (const char* const method : {"nonprivate", "dpsgd", "auto"})
    print_method(ten, "softmax", method, settings);
  print_method(ten, "softmax", "auto", settings, "replace_one");
  const Family numbers = numeric_label();
  for (const char* const method : {"nonprivate", "dpsgd", "auto"})
    print_method(numbers, "squared", method, settings);
  print_method(numbers, "squared", "auto", settings, "replace_one");
  print_row(numbers.name + ", squared", "AdaSSP", numbers, settings, [](const MadeUp& table, double epsilon) {
    return score_of_adassp(table, epsilon, Trial{}.delta, 3.5);
  });
}

void print_wide(const Settings& settings) {
  print_header("table", settings);
  print_majority(wide_one_hot(), settings);
  for (const char* const method : {"nonprivate", "dpsgd", "auto"})
    print_method(wide_one_hot(), "logistic", method, settings);
}

Settings settings_of(int argc, char** argv) {
  Settings settings;
  if (argc > 2) settings.repeats = std::strtoul(argv[2], nullptr, 10);
  if (argc > 3) {
    settings.epsilons.clear();
    std::istringstream list(argv[3]);
    for (std::string one; std::getline(list, one, ',');)
      settings.epsilons.push_back(std::strtod(one.c_str(), nullptr));
  }
  return settings;
}

int run(int argc, char** argv) {
  const std::string stage = argc > 1 ? argv[1] : "";
  const Settings settings = settings_of(argc, argv);
  if (stage == "families") {
    print_families(settings);
  } else if (stage == "losses") {
    print_losses(settings);
  } else if (stage == "wide") {
    print_wide(settings);
  } else {
    fmt::print(stderr, "usage: e6 families|losses|wide [REPEATS [EPSILON,...]]\n");
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace ration::e6

int main(int argc, char** argv) {
  try {
    return ration::e6::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "e6: {}\n", error.what());
    return 1;
  }
}
