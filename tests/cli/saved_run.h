#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "ration/data/census.h"
#include "ration/objectives/glm/glm.h"
#include "ration/train/model.h"
#include "support/child_process.h"

namespace ration::testing {

// A logistic model of the made-up census, by plain gradient descent. NOT PRIVATE: there is no noise.
inline Model census_model() {
  constexpr std::size_t kRows = 2000;
  const data::Table table = data::census_table(kRows, 1);
  const auto objective = make_glm(std::shared_ptr<const Rows>(std::shared_ptr<void>(), &table.rows),
                                  {.loss = GlmLoss::logistic});
  Batch all{.rows = {}, .divisor = kRows};
  for (std::uint64_t row = 0; row < kRows; ++row) all.rows.push_back(row);
  Model model;
  model.schema = data::census_schema();
  model.weights.assign(objective->parameters(), 0.0);
  std::vector<double> gradient(model.weights.size());
  for (int step = 0; step < 300; ++step) {
    objective->clipped_gradient_sum(model.weights, all, Abadi{.R = 1000}, gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i) model.weights[i] -= gradient[i] / all.divisor;
  }
  return model;
}

// A folder with run/model.json and test.csv: 3000 people the model has not seen.
class CensusRun {
 public:
  CensusRun() : model_(census_model()) {
    save("run", model_);
    std::ofstream out(path() + "/test.csv");
    data::write_census(out, kRows, 2);
  }

  static constexpr std::size_t kRows = 3000;

  const std::string& path() const { return folder_.path(); }
  const Model& model() const { return model_; }
  data::Table table() const { return data::census_table(kRows, 2); }
  std::string write(const std::string& name, const std::string& content) const {
    return folder_.write(name, content);
  }
  void save(const std::string& run, const Model& model) const {
    std::filesystem::create_directory(path() + "/" + run);
    write(run + "/model.json", to_json(model));
  }

 private:
  TemporaryFolder folder_;
  Model model_;
};

}  // namespace ration::testing
