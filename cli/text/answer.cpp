#include "text/answer.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "ration/base/error.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

void put_number(ordered_json& json, const std::string& key, double value) {
  if (std::isfinite(value)) {
    json[key] = value;
    return;
  }
  json[key] = nullptr;
  json[key + "_is"] = std::isinf(value) ? "infinite" : "undefined";
}

}  // namespace

Answer ask(const StepPlan& plan, Accountant accountant, double delta) {
  Answer answer{.accountant = accountant, .guarantee = {}, .refused = {}};
  const double start = now_in_seconds();
  try {
    answer.guarantee = account(plan.event(), plan.relation, accountant, delta);
  } catch (const InputError& error) {
    answer.refused = error.what();
  }
  answer.seconds = now_in_seconds() - start;
  return answer;
}

void write_to(ordered_json& json, const Guarantee& guarantee) {
  put_number(json, "epsilon", guarantee.epsilon);
  if (guarantee.epsilon_lower) {
    put_number(json, "epsilon_lower", *guarantee.epsilon_lower);
  } else {
    json["epsilon_lower"] = nullptr;
  }
  json["delta"] = guarantee.delta;
  json["accountant"] = to_string(guarantee.accountant);
  json["certified"] = guarantee.certified;
  json["detail"] = guarantee.detail;
}

std::string certified_word(const Guarantee& guarantee) {
  return guarantee.certified ? "yes" : "NO";
}

std::string in_few_words(const std::string& refused) {
  const std::string clause = refused.substr(0, refused.find(';'));
  constexpr std::size_t kMost = 90;
  return clause.size() <= kMost ? clause : clause.substr(0, kMost - 3) + "...";
}

double now_in_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace ration::cli
