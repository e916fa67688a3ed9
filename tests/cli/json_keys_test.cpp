// Programs read our JSON, and certificates outlive the program that wrote them. So keys and kinds of events
// are append-only: tests/cli/json_keys.txt lists all there ever were, and none may be renamed, given
// another meaning or taken out of that file. What is new is added to it.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "privacy/event_json.h"
#include "ration/data/census.h"
#include "ration/data/schema.h"
#include "ration/privacy/certificate.h"
#include "ration/train/model.h"
#include "support/places.h"
#include "support/ration_command.h"

namespace ration::testing {
namespace {

using nlohmann::json;

using Keys = std::set<std::string>;

const std::string kList = RATION_SOURCE_DIR "/tests/cli/json_keys.txt";

// "account.results[].epsilon". What a person chose (names of columns, classes) is no key of ours.
void add_keys(const std::string& path, const json& value, Keys& keys) {
  if (value.is_array()) {
    for (const json& one : value) add_keys(path + "[]", one, keys);
  }
  if (!value.is_object()) return;
  for (const auto& [key, inside] : value.items()) {
    const std::string name = path + "." + key;
    keys.insert(name);
    const bool by_class =
        name.ends_with(".recall") || name.ends_with(".confusion") || name.ends_with(".counts");
    if (!by_class) add_keys(name, inside, keys);
  }
}

Keys listed() {
  std::ifstream file(kList);
  Keys keys;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && !line.starts_with('#')) keys.insert(line);
  }
  return keys;
}

// One per line.
std::string without(const Keys& keys, const Keys& others) {
  std::string left;
  for (const std::string& key : keys) {
    if (!others.contains(key)) left += key + "\n";
  }
  return left;
}

std::vector<Event> one_of_each_kind() {
  const Event gaussian = Event::gaussian(1);
  return {Event::nothing(),
          gaussian,
          Event::laplace(1),
          Event::pure_dp(1),
          Event::above_threshold_laplace(1, 1),
          Event::above_threshold_gaussian(1, 1, 1),
          Event::discrete_gaussian(1),
          Event::noisy_max(1),
          Event::bounded_range(1),
          Event::poisson_sampled(0.5, gaussian),
          Event::fixed_size_sampled(0.5, gaussian),
          Event::composed({}),
          Event::repeated(gaussian, 2)};
}

// "event gaussian.noise_multiplier"
void add_events(Keys& keys) {
  const std::vector<Event> events = one_of_each_kind();
  Keys kinds;
  for (const Event& event : events) {
    const json value = json::parse(to_json(event));
    const std::string kind = "event " + value.at("event").get<std::string>();
    kinds.insert(kind);
    keys.insert(kind);
    for (const auto& [key, inside] : value.items()) keys.insert(kind + "." + key);
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<Event::Node>) << "a kind is missing from one_of_each_kind()";
}

Certificate full_certificate() {
  Certificate certificate =
      certify(Event::gaussian(10), Relation::add_remove, Accountant::pld, {3, 1e-5}, SpendingBy::plan);
  certificate.instruction_set = "portable";
  certificate.ledger = LedgerEntry{"budget.db", 1, {3, 1e-5}};
  certificate.unit = "patient";
  certificate.rows_per_unit = 8;
  return certificate;
}

Model softmax_model() {
  Model model;
  model.loss = GlmLoss::softmax;
  model.schema = data::census_schema();
  model.weights.assign(2 * data::encoded_column_names(model.schema).size(), 0.0);
  return model;
}

// Whatever the commands print.
class Commands {
 public:
  void write(const std::string& name, const std::string& text) { folder_.write(name, text); }
  explicit Commands(Keys& keys) : keys_(keys) {
    data::Schema schema = data::census_schema();
    folder_.write("census.toml", to_toml(schema));
    schema.label = "hours";
    folder_.write("hours.toml", to_toml(schema));
    for (const char* const name : {"census.csv", "test.csv"}) {
      std::ofstream out(folder_.path() + "/" + name);
      data::write_census(out, 400, name[0] == 'c' ? 1 : 2);
    }
  }

  // `what` stands for the object in the list.
  void run(const std::string& what, const std::string& line) {
    add_keys(what, ration_json(line, folder_.path()), keys_);
  }
  void file(const std::string& what, const std::string& name) {
    add_keys(what, json::parse(read_whole_file(folder_.path() + "/" + name)), keys_);
  }

 private:
  TemporaryFolder folder_;
  Keys& keys_;
};

void add_commands(Keys& keys) {
  Commands commands(keys);
  const std::string poisson = " --sampling poisson --rate 0.01 --delta 1e-5";
  commands.run("account", "account --noise 1.1 --steps 100 --accountant pld" + poisson);
  commands.run("account all", "account --noise 1.1 --steps 100 --plot eps.svg --accountant all" + poisson);
  commands.run("calibrate", "calibrate --steps 100 --epsilon 1" + poisson);
  commands.run("calibrate all", "calibrate --steps 100 --epsilon 1 --accountant all" + poisson);
  commands.run("plan", "plan --rows 50000 --method dpsgd --rate 0.01 --epochs 2 --epsilon 3 --delta 1e-6");
  commands.run("plan", "plan --rows 50000 --method auto --epsilon 3 --delta 1e-6");
  commands.run("plan", "plan --rows 10 --method auto --epsilon 3 --delta 1e-6");
  commands.run("plan",
               "plan --schema census.toml --rows 1000 --method auto --epsilon 1 --delta 1e-6 --forecast");
  commands.run("plan",
               "plan --unit id --rows-per-unit 8 --units 5000 --method dpsgd --epsilon 3 --delta 1e-6");
  commands.run("schedule",
               "schedule --shape influence --gamma 0.9 --steps 5 --epsilon 2 --delta 1e-6 --out s.csv");
  commands.run("schema", "schema census.csv --target income");

  commands.run("ledger init", "ledger init budget.db --data census.csv --epsilon 9 --delta 1e-4");
  commands.run("train",
               "train --data census.csv --schema census.toml --rows 400 --method dpsgd --steps 5 --rate 0.1 "
               "--epsilon 1 "
               "--delta 1e-6 --ledger budget.db --out run");
  commands.run("ledger show", "ledger show budget.db");
  commands.run("ledger init", "ledger init units.db --data census.csv --unit age --epsilon 9 --delta 1e-4");
  commands.run("ledger show", "ledger show units.db");
  commands.run("train",
               "train --data census.csv --schema census.toml --unit age --rows-per-unit 8 --units 74 "
               "--method dpsgd --steps 5 "
               "--rate 0.1 --epsilon 1 --delta 1e-6 --ledger units.db --out units");
  commands.run("ledger runs", "ledger runs budget.db");
  commands.run("verify", "verify run/certificate.json");
  commands.run("evaluate", "evaluate run --data test.csv --public --by sex");
  commands.run("evaluate privately", "evaluate run --data census.csv --epsilon 1 --ledger budget.db");
  commands.run("evaluate privately",
               "evaluate run --data census.csv --epsilon 1 --scores --ledger budget.db");
  commands.file("evaluation", "run/evaluation-2/evaluation.json");
  commands.run("train",
               "train --data census.csv --schema hours.toml --rows 400 --model squared --steps 5 --rate 0.1 "
               "--epsilon 1 --delta 1e-6 --method dpsgd --out hours");
  commands.run("evaluate", "evaluate hours --data test.csv --public");
  commands.run("predict", "predict run --data test.csv --out said.csv");
  commands.file("certificate", "run/certificate.json");
  commands.file("model", "run/model.json");
  commands.run("train",
               "train --data census.csv --schema census.toml --rows 400 --method auto --epsilon 5 "
               "--delta 1e-6 --out run2");
  commands.file("model", "run2/model.json");
  commands.run("predict", "predict run2 --data test.csv --intervals 0.9");
  commands.run("coefficients", "coefficients run2");
  commands.write("softmax.json", to_json(softmax_model()));
  commands.run("coefficients", "coefficients softmax.json");

  commands.run("audit",
               "audit --method dpsgd --epsilon 1 --delta 1e-5 --steps 2 --trials 100 --canaries 20 "
               "--confidence 0.999999 "
               "--plot a.svg");
  commands.run("compare",
               "compare --data census.csv --schema census.toml --public --methods dpsgd --epsilons 2 --delta "
               "1e-6 --folds 2 "
               "--out cmp");
  commands.run("protector train",
               "protector train --tasks quadratic --epsilon 0.5 --delta 1e-6 --epochs 1 --steps 5 "
               "--threads 1 --out q.protector");
  commands.run("protector show", "protector show q.protector");
}

TEST(JsonKeys, AreOnlyEverAdded) {
  Keys keys;
  add_events(keys);
  add_keys("certificate", json::parse(to_json(full_certificate())), keys);
  add_keys("certificate",
           json::parse(to_json(no_certificate("why", Relation::add_remove, Accountant::rdp, 1e-5))), keys);
  add_keys("model", json::parse(to_json(softmax_model())), keys);
  add_commands(keys);
  EXPECT_EQ(without(listed(), keys), "") << "these keys are gone; they must come back";
  EXPECT_EQ(without(keys, listed()), "") << "these keys are new; append them to " << kList;
}

}  // namespace
}  // namespace ration::testing
