#include "text/forecast_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "text/text_table.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

std::string percent(double share) {
  return fmt::format("{:.1f}", 100 * share);
}

std::string show(const ForecastScore& score) {
  return score.auc ? fmt::format("{} / {}", percent(score.accuracy), percent(*score.auc))
                   : percent(score.accuracy);
}

ordered_json to_json(const ForecastScore& score) {
  ordered_json json{{"accuracy", score.accuracy}, {"auc", nullptr}};
  if (score.auc) json["auc"] = *score.auc;
  return json;
}

}  // namespace

std::string to_text(const Forecast& forecast) {
  const bool has_auc = !forecast.tables.empty() && forecast.tables.front().without_privacy.auc.has_value();
  std::vector<TextTable::Column> columns{{"made-up table", TextTable::Align::left},
                                         {"no privacy", TextTable::Align::right}};
  for (const double epsilon : forecast.epsilons)
    columns.push_back({fmt::format("epsilon {}", ration::show(epsilon)), TextTable::Align::right});
  TextTable table(columns);
  for (const ForecastTable& one : forecast.tables) {
    std::vector<std::string> cells{
        fmt::format("largest class {:.0f} %, best possible {:.0f}", 100 * one.largest, 100 * one.possible),
        show(one.without_privacy)};
    for (const ForecastScore& score : one.with_privacy) cells.push_back(show(score));
    table.add_row(std::move(cells));
  }
  const std::string scaled = forecast.simulated < forecast.rows
                                 ? fmt::format(" {} rows stand for {}, with noise as much smaller.",
                                               forecast.simulated, forecast.rows)
                                 : "";
  return fmt::format(
      "forecast    {} in percent, on made-up rows of this shape.{}\n\n{}\nWhich of them the real table is "
      "like "
      "nobody knows before it is read.\n",
      has_auc ? "accuracy / AUC" : "accuracy", scaled, table.render());
}

void write_to(ordered_json& json, const Forecast& forecast) {
  ordered_json tables = ordered_json::array();
  for (const ForecastTable& one : forecast.tables) {
    ordered_json entry{{"possible", one.possible},
                       {"largest_class", one.largest},
                       {"without_privacy", to_json(one.without_privacy)}};
    ordered_json scores = ordered_json::array();
    for (std::size_t e = 0; e < forecast.epsilons.size(); ++e) {
      ordered_json score = to_json(one.with_privacy[e]);
      score["epsilon"] = forecast.epsilons[e];
      scores.push_back(std::move(score));
    }
    entry["with_privacy"] = std::move(scores);
    tables.push_back(std::move(entry));
  }
  json["forecast"] = {
      {"rows", forecast.rows}, {"simulated_rows", forecast.simulated}, {"tables", std::move(tables)}};
}

}  // namespace ration::cli
