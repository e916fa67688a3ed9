#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "data/content_hash.h"
#include "ration/base/error.h"
#include "ration/data/census.h"
#include "ration/privacy/ledger.h"
#include "ration/train/run.h"
#include "support/child_process.h"
#include "train/checkpoint.h"

namespace ration::testing {

// A folder with the made-up census: census.csv, census.toml, and, once asked for, budget.db.
class CensusFiles {
 public:
  static constexpr std::size_t kRows = 300;

  CensusFiles() {
    std::ofstream out(data());
    data::write_census(out, kRows, 1);
    folder_.write("census.toml", to_toml(data::census_schema()));
  }

  const std::string& path() const { return folder_.path(); }
  std::string data() const { return path() + "/census.csv"; }
  std::string schema() const { return path() + "/census.toml"; }
  std::string ledger() const { return path() + "/budget.db"; }
  std::string run(const std::string& name = "run") const { return path() + "/" + name; }
  std::string hash() const { return data::content_hash(data()); }
  std::string write(const std::string& name, const std::string& content) const {
    return folder_.write(name, content);
  }

  void make_ledger(const Budget& total, Relation relation = Relation::add_remove) const {
    Ledger::open_or_create(ledger()).add(
        {.hash = hash(), .name = "census", .relation = relation, .total = total});
  }

 private:
  TemporaryFolder folder_;
};

inline bool exists(const std::string& path) {
  return std::filesystem::exists(path);
}

inline Checkpoint checkpoint_in(const std::string& run) {
  const std::string file = run + "/checkpoint/state.json";
  return checkpoint_from_json(read_whole_file(file), file);
}

inline Certificate certificate_in(const std::string& run) {
  return certificate_from_json(read_whole_file(run + "/certificate.json"));
}

// Whatever happened: no file of a run is half a file, and what a certificate says holds.
inline void expect_sound_files(const std::string& run) {
  if (exists(run + "/plan.toml")) {
    EXPECT_NO_THROW(resolve(read_plan(run + "/plan.toml")));
  }
  if (exists(run + "/checkpoint/state.json")) {
    EXPECT_NO_THROW(checkpoint_in(run));
  }
  if (exists(run + "/model.json")) {
    EXPECT_TRUE(exists(run + "/certificate.json")) << "a model without a certificate";
    for (const double weight : read_model(run).weights) EXPECT_TRUE(std::isfinite(weight));
  }
  if (exists(run + "/certificate.json")) {
    EXPECT_TRUE(verify(certificate_in(run)).holds());
  }
}

inline void expect_finished(const std::string& run) {
  for (const char* const name :
       {"model.json", "certificate.json", "certificate.txt", "plan.toml", "schema.toml", "progress.csv"}) {
    EXPECT_TRUE(exists(run + "/" + name)) << name;
  }
  EXPECT_FALSE(exists(run + "/checkpoint"));
  for (const auto& entry : std::filesystem::directory_iterator(run))
    EXPECT_NE(entry.path().extension(), ".part") << entry.path();
}

// What a ledger says about the run of this folder, if there is a certificate: it charges no less.
inline void expect_charged_for(const std::string& run, const Ledger& ledger) {
  if (!exists(run + "/certificate.json")) return;
  const Certificate certificate = certificate_in(run);
  ASSERT_TRUE(certificate.ledger.has_value());
  const LedgerRun entry = ledger.runs().at(static_cast<std::size_t>(certificate.ledger->run - 1));
  EXPECT_GE(entry.charged.epsilon, certificate.epsilon);
  EXPECT_GE(entry.charged.delta, certificate.delta);
}

// All at once, after every scenario.
inline void expect_sound(const std::string& run, const CensusFiles& files) {
  expect_sound_files(run);
  if (!exists(files.ledger())) return;
  const Ledger ledger(files.ledger());
  const LedgerState state = ledger.state(files.hash());
  double charged = 0;
  for (const LedgerRun& one : ledger.runs()) charged += one.charged.epsilon;
  EXPECT_LE(charged, state.data.total.epsilon * (1 + 1e-12));
  EXPECT_LE(state.spent.epsilon, state.data.total.epsilon);
  EXPECT_LE(state.spent.delta, state.data.total.delta);
  expect_charged_for(run, ledger);
}

}  // namespace ration::testing
