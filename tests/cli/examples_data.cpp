#include <gtest/gtest.h>

#include "support/data_files.h"
#include "support/places.h"
#include "support/ration_command.h"

namespace ration::testing {
namespace {

const std::string kExamples = std::string(RATION_SOURCE_DIR) + "/examples/";

// Trains by an example's plan into `out` and verifies the certificate.
void train(const std::string& example, const std::string& data, const std::string& budget,
           const std::string& out) {
  const Finished done = run_ration("train " + data + " --plan " + kExamples + example + "/plan.toml " +
                                   budget + " --out " + out);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const Finished verified = run_ration("verify " + out + "/certificate.json");
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
}

double accuracy(const std::string& run, const std::string& data) {
  return ration_json("evaluate " + run + " --data " + data + " --public")["accuracy"];
}

double mean_accuracy_on_adult(const std::string& budget, int runs) {
  const auto rows = data_file("adult/adult.data.gz");
  const auto test = data_file("adult/adult.test.gz");
  double sum = 0;
  for (int i = 0; i < runs; ++i) {
    const TemporaryFolder folder;
    train("adult", *rows, budget, folder.path() + "/run");
    sum += accuracy(folder.path() + "/run", *test);
  }
  return sum / runs;
}

TEST(Examples, AdultIsLearnedWithinItsBudget) {
  RATION_NEED_DATA(rows, "adult/adult.data.gz");
  EXPECT_GE(mean_accuracy_on_adult("--epsilon 1 --delta 1e-6", 10), 0.850);
  EXPECT_GE(mean_accuracy_on_adult("--epsilon 0.1 --delta 1e-8", 10), 0.838);
}

// On the rows it was trained on, with noise that is far below a row in a thousand, which is enough to see
// that it works: better than the larger class.
void expect_learned(const std::string& example, const std::string& data, double least) {
  const TemporaryFolder folder;
  train(example, data, "--epsilon 1 --delta 1e-6", folder.path() + "/run");
  const std::string run = folder.path() + "/run";
  EXPECT_GE(ration_json("evaluate " + run + " --data " + data + " --epsilon 100")["accuracy"], least);
}

TEST(Examples, A9aWorks) {
  RATION_NEED_DATA(rows, "a9a/a9a.gz");
  expect_learned("a9a", rows, 0.83);
}

TEST(Examples, SmsSpamWorks) {
  RATION_NEED_DATA(rows, "sms-spam/SMSSpamCollection.gz");
  expect_learned("sms-spam", rows, 0.92);
}

TEST(Examples, Sst2Works) {
  RATION_NEED_DATA(rows, "sst2/sst2-sentences.train.tsv.gz");
  RATION_NEED_DATA(test, "sst2/sst2-sentences.test.tsv.gz");
  const TemporaryFolder folder;
  train("sst2", "text:" + rows, "--epsilon 8 --delta 1e-5", folder.path() + "/run");
  EXPECT_GE(accuracy(folder.path() + "/run", "text:" + test), 0.71);
}

TEST(Examples, BankWorks) {
  RATION_NEED_DATA(rows, "bank/bank-full.csv.gz");
  expect_learned("bank", rows, 0.885);
}

TEST(Examples, IpumsBrWorks) {
  RATION_NEED_DATA(rows, "ipums-br/IPUMS-BR.dat.gz");
  expect_learned("ipums-br", rows, 0.75);
}

}  // namespace
}  // namespace ration::testing
