#include "ration/data/census.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ostream>
#include <random>
#include <span>
#include <string>

#include "data/table_builder.h"

namespace ration::data {
namespace {

constexpr std::array kWork = {"private", "self-employed", "government", "family", "none"};
constexpr std::array kSchooling = {"primary",      "some-secondary", "secondary", "vocational",
                                   "some-college", "bachelor",       "master",    "doctor"};
constexpr std::array kMarital = {"single", "married", "divorced", "widowed"};
constexpr std::array kOccupation = {"cleaning", "farming", "service",   "transport",  "craft",
                                    "clerical", "sales",   "technical", "specialist", "management"};
constexpr std::array kRegion = {"north", "east", "south", "west", "abroad"};
constexpr std::array kSex = {"female", "male"};
constexpr std::array kIncome = {"low", "high"};

struct Person {
  int age;
  std::size_t work;
  std::size_t schooling;
  std::size_t marital;
  std::size_t occupation;
  std::size_t region;
  std::size_t sex;
  int capital_gain;
  int hours;
  std::size_t income;
};

// Draws the made-up people by arithmetic that is the same everywhere, which the standard library's
// distributions are not. A predictable generator is what a table that everybody can make again needs, and
// nothing else may use one: Dice is no RandomSource, so it cannot be passed where noise or a sample is drawn,
// and a test keeps it the only one in the library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  bool chance(double probability) { return uniform() < probability; }
  // Close to normal: twelve uniforms, so that no library function can differ in the last bit.
  double bell() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }
  std::size_t pick(std::span<const double> weights) {
    double total = 0;
    for (const double weight : weights) total += weight;
    double left = uniform() * total;
    for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
      left -= weights[i];
      if (left < 0) return i;
    }
    return weights.size() - 1;
  }

 private:
  std::mt19937_64 engine_;
};

int rounded_within(double value, int low, int high) {
  return static_cast<int>(std::floor(std::fmin(std::fmax(value, low), high) + 0.5));
}

std::size_t draw_marital(Dice& dice, int age) {
  const double settled = std::fmin(1.0, (age - 17) / 20.0);
  const double old = std::fmax(0.0, (age - 55) / 60.0);
  const std::array weights = {1.05 - settled, 0.75 * settled + 0.02, 0.2 * settled, 0.01 + 0.5 * old};
  return dice.pick(weights);
}

// Occupations are ordered by the schooling they ask for.
std::size_t draw_occupation(Dice& dice, std::size_t schooling) {
  const double centre = 1.2 * static_cast<double>(schooling) + 0.5 + 2.2 * dice.bell();
  return static_cast<std::size_t>(rounded_within(centre, 0, static_cast<int>(kOccupation.size()) - 1));
}

int draw_hours(Dice& dice, int age) {
  if (dice.chance(0.47)) return 40;
  const double usual = age < 22 ? 26 : age > 64 ? 28 : 43;
  return rounded_within(usual + 11 * dice.bell(), 1, 99);
}

int draw_capital_gain(Dice& dice, int age, std::size_t schooling) {
  if (!dice.chance(0.03 + 0.0008 * age + 0.008 * static_cast<double>(schooling))) return 0;
  const double u = dice.uniform();
  return rounded_within(500 + 30000 * u * u * u, 0, 99999);
}

// The log odds of a high income.
double log_odds(const Person& person) {
  static constexpr std::array kOfOccupation = {-1.2, -1.3, -1.0, -0.3, -0.2, 0.0, 0.3, 0.5, 0.8, 1.2};
  static constexpr std::array kOfMarital = {-1.4, 1.5, -0.8, -0.7};
  static constexpr std::array kOfWork = {0.0, -0.2, 0.1, -1.5, -2.5};
  const double years = (person.age - 45) / 15.0;
  double odds = -4.13 + kOfOccupation[person.occupation] + kOfMarital[person.marital] + kOfWork[person.work];
  odds += 0.52 * static_cast<double>(person.schooling) - 0.55 * years * years + 0.45 * years;
  odds += 0.035 * (person.hours - 40) + 0.0004 * person.capital_gain + (person.sex == 1 ? 0.25 : 0.0);
  odds += person.region == 4 ? -0.5 : 0.0;
  if (person.marital == 1 && person.schooling >= 5) odds += 0.7;
  if (person.age < 25) odds -= 1.5;
  return odds;
}

Person draw_person(Dice& dice) {
  static constexpr std::array kWorkWeights = {0.72, 0.11, 0.13, 0.01, 0.03};
  static constexpr std::array kSchoolingWeights = {0.04, 0.08, 0.32, 0.09, 0.22, 0.17, 0.06, 0.02};
  static constexpr std::array kRegionWeights = {0.3, 0.2, 0.25, 0.15, 0.1};
  Person person{};
  const double young = dice.uniform();
  person.age = rounded_within(17 + 46 * young + 9 * std::fabs(dice.bell()), 17, 90);
  person.sex = dice.chance(0.6) ? 1 : 0;
  person.schooling = dice.pick(kSchoolingWeights);
  person.work = dice.pick(kWorkWeights);
  person.region = dice.pick(kRegionWeights);
  person.marital = draw_marital(dice, person.age);
  person.occupation = draw_occupation(dice, person.schooling);
  person.hours = draw_hours(dice, person.age);
  person.capital_gain = draw_capital_gain(dice, person.age, person.schooling);
  person.income = dice.chance(1 / (1 + std::exp(-log_odds(person)))) ? 1 : 0;
  return person;
}

template <std::size_t N>
Column category(const char* name, const std::array<const char*, N>& categories) {
  Column column;
  column.name = name;
  column.type = ColumnType::category;
  column.categories.assign(categories.begin(), categories.end());
  return column;
}

Column number(const char* name, double low, double high, std::vector<double> cuts = {}) {
  Column column;
  column.name = name;
  column.type = ColumnType::number;
  column.low = low;
  column.high = high;
  column.cuts = std::move(cuts);
  return column;
}

}  // namespace

Schema census_schema() {
  Schema schema;
  schema.file = "the generated census";
  schema.label = "income";
  Column capital_gain = number("capital-gain", 0, 99999);
  capital_gain.scale = Scale::log;
  schema.columns = {number("age", 17, 90, {22, 25, 30, 35, 40, 45, 50, 55, 60, 65}),
                    category("work", kWork),
                    category("schooling", kSchooling),
                    category("marital", kMarital),
                    category("occupation", kOccupation),
                    category("region", kRegion),
                    category("sex", kSex),
                    capital_gain,
                    number("hours", 1, 99),
                    category("income", kIncome)};
  return schema;
}

Table census_table(std::size_t rows, std::uint64_t seed) {
  const Schema schema = census_schema();
  TableBuilder builder(schema, {});
  builder.reserve(rows);
  Dice dice(seed);
  for (std::size_t i = 0; i < rows; ++i) {
    const Person person = draw_person(dice);
    const Place place{schema.file, i + 1, false};
    builder.cell(0, static_cast<double>(person.age), place);
    builder.cell(1, std::string_view(kWork[person.work]), place);
    builder.cell(2, std::string_view(kSchooling[person.schooling]), place);
    builder.cell(3, std::string_view(kMarital[person.marital]), place);
    builder.cell(4, std::string_view(kOccupation[person.occupation]), place);
    builder.cell(5, std::string_view(kRegion[person.region]), place);
    builder.cell(6, std::string_view(kSex[person.sex]), place);
    builder.cell(7, static_cast<double>(person.capital_gain), place);
    builder.cell(8, static_cast<double>(person.hours), place);
    builder.cell(9, std::string_view(kIncome[person.income]), place);
    builder.end_row();
  }
  return std::move(builder).finish(schema.file);
}

void write_census(std::ostream& out, std::size_t rows, std::uint64_t seed) {
  Dice dice(seed);
  out << "age,work,schooling,marital,occupation,region,sex,capital-gain,hours,income\n";
  for (std::size_t i = 0; i < rows; ++i) {
    const Person person = draw_person(dice);
    out << fmt::format("{},{},{},{},{},{},{},{},{},{}\n", person.age, kWork[person.work],
                       kSchooling[person.schooling], kMarital[person.marital], kOccupation[person.occupation],
                       kRegion[person.region], kSex[person.sex], person.capital_gain, person.hours,
                       kIncome[person.income]);
  }
}

}  // namespace ration::data
