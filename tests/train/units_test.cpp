// Runs that protect a unit with all its rows: what is refused, what the certificate says, and that the ledger
// keeps rows and units apart.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "ration/base/error.h"
#include "ration/privacy/ledger.h"
#include "ration/train/fit.h"
#include "ration/train/run.h"
#include "support/child_process.h"
#include "support/doubles.h"
#include "train/runs.h"
#include "train/verify_run.h"

namespace ration::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kSchema = R"(label = "readmitted"
unit = "patient_id"
rows_per_unit = 4
columns = [
  { name = "patient_id", type = "ignore" },
  { name = "age", type = "number", low = 0, high = 100 },
  { name = "visits", type = "number", low = 0, high = 10 },
  { name = "readmitted", type = "category", categories = ["no", "yes"] },
]
)";

std::string schema_without_unit() {
  std::string schema = kSchema;
  const std::size_t first = schema.find("unit =");
  return schema.erase(first, schema.find("columns") - first);
}

// Patients of 1 to 9 visits; the older, the likelier to come back.
std::string visits(int patients) {
  std::mt19937_64 random(5);
  std::string text = "patient_id,age,visits,readmitted\n";
  for (int patient = 0; patient < patients; ++patient) {
    const auto age = static_cast<int>(random() % 100);
    const int count = 1 + static_cast<int>(random() % 9);
    for (int visit = 0; visit < count; ++visit) {
      const bool back = static_cast<int>(random() % 100) < (age > 50 ? 80 : 15);
      text += fmt::format("P{:04},{},{},{}\n", patient, age, visit, back ? "yes" : "no");
    }
  }
  return text;
}

class UnitRun : public ::testing::Test {
 protected:
  static constexpr int kPatients = 2000;
  UnitRun() {
    folder_.write("visits.csv", visits(kPatients));
    folder_.write("schema.toml", kSchema);
  }
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  Plan plan(const std::string& method = "auto") const {
    Plan plan;
    plan.data = path("visits.csv");
    plan.schema = path("schema.toml");
    plan.method = named<MethodKind>("method", method);
    plan.units = kPatients;
    plan.epsilon = 2;
    plan.delta = 1e-6;
    return plan;
  }
  RunOutcome train_it(const Plan& plan, const std::string& name = "run") const {
    return train(plan, {.out = path(name), .threads = 1}, SecureRandom::for_this_thread());
  }
  RunVerification verified(const std::string& ledger = "") const {
    return verify_run(path("run"), {.data = ledger.empty() ? "" : path("visits.csv"), .ledger = ledger});
  }

  TemporaryFolder folder_;
};

std::string refusal_of(const Plan& plan) {
  try {
    resolve(plan);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_F(UnitRun, SaysWhatItProtectsAndIsVerified) {
  const RunOutcome outcome = train_it(plan());
  const Certificate& certificate = outcome.certificate;
  EXPECT_EQ(certificate.unit, "patient_id");
  EXPECT_EQ(certificate.rows_per_unit, 4);
  EXPECT_THAT(certificate.groups, IsEmpty());
  const std::string text = read_whole_file(path("run/certificate.txt"));
  EXPECT_THAT(text, HasSubstr("Protects        one patient_id, with up to 4 rows\n"));
  EXPECT_THAT(text, HasSubstr("data sets that differ by one added or removed"));
  EXPECT_THAT(text, Not(HasSubstr("event-level")));
  EXPECT_THAT(certificate.assumed_public, Contains("the number of units, declared as 2000"));
  EXPECT_THAT(verified().problems, IsEmpty());
  EXPECT_EQ(certificate_in(path("run")).unit, "patient_id");
  EXPECT_EQ(outcome.model.schema.unit, "patient_id");
}

TEST_F(UnitRun, LearnsFromUnits) {
  for (const char* method : {"auto", "dpsgd", "dpadam", "blsgd", "blgd", "blsgd-ac", "agd"}) {
    Plan of_method = plan(method);
    of_method.epsilon = 20;
    of_method.delta = 1e-4;
    const Model model = train_it(of_method, method).model;
    const auto found = evaluate_public(model, data::read_table(path("visits.csv"), model.schema));
    EXPECT_GT(*found.accuracy, 0.75) << method;  // of 0.83 at best, and 0.53 without looking
  }
}

TEST_F(UnitRun, MajorityAndPrivgeneHaveAUnitForm) {
  for (const char* method : {"majority", "privgene"}) EXPECT_TRUE(train_it(plan(method), method).finished);
}

TEST_F(UnitRun, CountsUnitsIfTheirNumberIsNotDeclared) {
  Plan open = plan("dpsgd");
  open.units.reset();
  const RunOutcome outcome = train_it(open);
  EXPECT_TRUE(outcome.plan.count_noise);
  EXPECT_THAT(verified().problems, IsEmpty());
}

TEST_F(UnitRun, SamplesAndDividesByUnits) {
  Plan sampled = plan("dpsgd");
  sampled.batch = 100;
  EXPECT_DOUBLE_EQ(resolve(sampled).rate, 100.0 / kPatients);
  EXPECT_TRUE(train_it(sampled).finished);
  sampled.sampling = Sampling::fixed_size;
  EXPECT_EQ(*resolve(sampled).fixed_size, 100u);
  EXPECT_TRUE(train_it(sampled, "fixed").finished);
  sampled.units = kPatients + 1;
  EXPECT_THROW(train_it(sampled, "wrong"), data::PublicFault);
}

TEST_F(UnitRun, WhatHasNoUnitFormIsRefusedAndSaysWhatWorks) {
  for (const char* method : {"objpert", "outpert-gd", "outpert-rsgd", "bolton", "nonprivate"}) {
    Plan by_rows = plan(method);
    const std::string why = refusal_of(by_rows);
    EXPECT_THAT(why, HasSubstr("is proven for rows, not for units of several rows; use one of auto, dpsgd"))
        << method;
  }
  Plan centred = plan("dpsgd");
  centred.center = Centering::yes;
  EXPECT_THAT(refusal_of(centred), HasSubstr("use method auto"));
}

TEST_F(UnitRun, APlanMustSayAllOfIt) {
  Plan rows = plan();
  rows.rows = 10'000;
  EXPECT_THAT(refusal_of(rows), HasSubstr("declare units in place of rows"));
  Plan no_unit = plan();
  no_unit.schema = folder_.write("rows.toml", schema_without_unit());
  EXPECT_THAT(refusal_of(no_unit), HasSubstr("units needs unit"));
  no_unit.unit = "patient_id";
  EXPECT_THAT(refusal_of(no_unit), HasSubstr("rows_per_unit is needed with unit"));
  no_unit.rows_per_unit = 1000;
  EXPECT_THAT(refusal_of(no_unit), HasSubstr("expected rows_per_unit <= 256, got 1000"));
  no_unit.rows_per_unit = 2;
  EXPECT_EQ(train_it(no_unit).certificate.unit_of_privacy, "one patient_id, with up to 2 rows");
  Plan nobody = no_unit;
  nobody.unit = "doctor";
  EXPECT_THROW(train_it(nobody, "nobody"), InputError);
}

// A schema that says whose rows they are is not overruled without a word.
TEST_F(UnitRun, APlanAndASchemaThatDisagreeAreRefused) {
  Plan by_age = plan();
  by_age.unit = "age";
  EXPECT_EQ(refusal_of(by_age),
            "plan: unit = 'age', but the schema says that rows belong to 'patient_id'; name one of them");
}

// Cut the only row of a patient off, and there is one patient less: under replace_one neighbours would differ
// in what is public.
TEST_F(UnitRun, BadRowsThatVanishAreRefusedUnderReplaceOne) {
  for (const data::OnBadRow choice : {data::OnBadRow::clamp, data::OnBadRow::drop}) {
    Plan open = plan();
    open.on_bad_row = choice;
    EXPECT_TRUE(train_it(open, "add_remove" + std::string(to_string(choice))).finished);
    open.relation = Relation::replace_one;
    EXPECT_THAT(refusal_of(open), HasSubstr("use on_bad_row = refuse, or relation add_remove"));
  }
}

// The plan's word counts, and its column is no feature even if the schema has bounds for it.
TEST_F(UnitRun, APlanMayMakeAFeatureTheUnit) {
  Plan by_age = plan();
  by_age.schema = folder_.write("rows.toml", schema_without_unit());
  by_age.unit = "age";
  by_age.rows_per_unit = 8;
  by_age.units = 100;
  const RunOutcome outcome = train_it(by_age);
  EXPECT_EQ(outcome.certificate.unit_of_privacy, "one age, with up to 8 rows");
  for (const std::string& column : data::encoded_column_names(outcome.model.schema))
    EXPECT_THAT(column, Not(HasSubstr("age")));
}

TEST_F(UnitRun, ALedgerKeepsRowsAndUnitsApart) {
  Ledger::open_or_create(path("units.db"))
      .add({.hash = data::content_hash(path("visits.csv")),
            .name = "visits",
            .total = {4, 4e-6},
            .unit = "patient_id"});
  Ledger::open_or_create(path("rows.db"))
      .add({.hash = data::content_hash(path("visits.csv")), .name = "visits", .total = {4, 4e-6}});
  Plan charged = plan();
  charged.ledger = path("rows.db");
  EXPECT_THROW(train_it(charged), InputError);
  charged.ledger = path("units.db");
  train_it(charged);
  EXPECT_THAT(verified(path("units.db")).problems, IsEmpty());
  EXPECT_EQ(Ledger(path("units.db")).states().at(0).runs, 1);
  EXPECT_EQ(Ledger(path("rows.db")).states().at(0).runs, 0);
}

TEST_F(UnitRun, AForgedUnitIsFound) {
  Plan by_rows = plan("dpsgd");
  by_rows.schema = folder_.write("rows.toml", schema_without_unit());
  by_rows.units.reset();
  by_rows.rows = 10'000;
  train_it(by_rows);
  Certificate forged = certificate_in(path("run"));
  forged.unit = "patient_id";
  forged.rows_per_unit = 4;
  forged.unit_of_privacy = unit_in_words("patient_id", 4);
  forged.groups.clear();
  folder_.write("run/certificate.json", to_json(forged));
  folder_.write("run/certificate.txt", to_text(forged));
  EXPECT_THAT(verified().problems,
              Contains(HasSubstr("that it protects one patient_id, with up to 4 rows, found one row")));
}

TEST_F(UnitRun, AStoppedRunGoesOn) {
  std::atomic<bool> stop{true};
  Plan stopped = plan("dpsgd");
  EXPECT_FALSE(
      train(stopped, {.out = path("run"), .threads = 1, .stop = &stop}, SecureRandom::for_this_thread())
          .finished);
  EXPECT_TRUE(resume_run({.out = path("run"), .threads = 1}, SecureRandom::for_this_thread()).finished);
  EXPECT_THAT(verified().problems, IsEmpty());
}

TEST(UnitFit, ATableInMemoryNeedsItsUnits) {
  const TemporaryFolder folder;
  const data::Schema schema = data::parse_schema(kSchema);
  const std::string file = folder.write("visits.csv", visits(300));
  Plan plan;
  plan.epsilon = 2;
  plan.delta = 1e-5;
  plan.units = 300;
  const Fitted fitted = fit(plan, schema, data::read_csv(file, schema, {.units = true}));
  EXPECT_EQ(fitted.certificate.unit, "patient_id");
  EXPECT_TRUE(verify(fitted.certificate).holds());
  EXPECT_THROW(fit(plan, schema, data::read_csv(file, schema)), InputError);
}

}  // namespace
}  // namespace ration::testing
