#include "meta/train_protector.h"

#include <gtest/gtest.h>

#include "ration/base/error.h"

namespace ration::meta {
namespace {

MetaOptions small_options() {
  MetaOptions options;
  options.budget = {1, 1e-5};
  options.steps = 8;
  options.batch = 4;
  options.units = 6;
  options.unrolls = 4;
  options.epochs = 15;
  options.pretraining_epochs = 3;
  options.projector_updates = 2;
  options.validation_tasks = 24;
  options.learning_rate = 0.02;
  options.output_scale = 0.3;
  options.threads = 1;
  return options;
}

Protector trained(const MetaOptions& options) {
  return train_protector(options, random_quadratics({2, 2}), random_quadratics({2, 2}), {});
}

TEST(TrainProtector, LearnsAndSpendsItsBudget) {
  for (const SchedulerTraining training : {SchedulerTraining::soft, SchedulerTraining::lagrangian,
                                           SchedulerTraining::batch, SchedulerTraining::batch_soft}) {
    MetaOptions options = small_options();
    options.training = training;
    const Protector protector = trained(options);
    EXPECT_LT(protector.origin.validation_loss, 0.5 * protector.origin.untrained_loss) << to_string(training);
    const ProtectorScore score = score_protector(protector, options, random_quadratics({2, 2}), 50, 9);
    EXPECT_LT(score.share, 0.5) << to_string(training);
    EXPECT_NEAR(score.spent, 1, 0.02) << to_string(training);
  }
}

TEST(TrainProtector, ProjectorAloneHasNoScheduler) {
  MetaOptions options = small_options();
  options.scheduler = false;
  const Protector protector = trained(options);
  EXPECT_TRUE(protector.scheduler.empty());
  EXPECT_LT(protector.origin.validation_loss, 0.5 * protector.origin.untrained_loss);
}

TEST(TrainProtector, IsTheSameAgainWhateverTheThreads) {
  MetaOptions options = small_options();
  options.epochs = 2;
  const Protector one = trained(options);
  EXPECT_EQ(one, trained(options));
  options.threads = 2;
  EXPECT_EQ(one, trained(options));
  options.seed = 2;
  EXPECT_NE(one, trained(options));
}

TEST(TrainProtector, GoesOnFromAnotherAndIsNoWorse) {
  MetaOptions options = small_options();
  const auto first = std::make_shared<const Protector>(trained(options));
  options.from = first;
  options.epochs = 3;
  EXPECT_LE(trained(options).origin.validation_loss, first->origin.validation_loss * (1 + 1e-6));
  options.units = 7;
  EXPECT_THROW(trained(options), InputError);
}

TEST(TrainProtector, StopsWhenAsked) {
  MetaOptions options = small_options();
  const std::atomic<bool> stop{true};
  options.stop = &stop;
  options.pretraining_epochs = 0;
  EXPECT_THROW(trained(options), InputError);  // nothing was trained yet
}

TEST(TrainProtector, NoiseIsThatOfTheTableItIsFor) {
  MetaOptions options = small_options();
  const Protector protector = trained(options);
  const double usual = score_protector(protector, options, random_quadratics({2, 2}), 50, 9).share;
  options.rows = 6e6;
  EXPECT_NE(score_protector(protector, options, random_quadratics({2, 2}), 50, 9).share, usual);
}

TEST(TrainProtector, RefusesWhatMakesNoSense) {
  MetaOptions options = small_options();
  options.steps = 0;
  EXPECT_THROW(trained(options), InputError);
  options = small_options();
  options.unrolls = 0;
  EXPECT_THROW(trained(options), InputError);
  options = small_options();
  options.norm = NormSource::released;
  EXPECT_THROW(trained(options), InputError);
  EXPECT_THROW(named<SchedulerTraining>("hard"), InputError);
  EXPECT_EQ(named<SchedulerTraining>("batch-soft"), SchedulerTraining::batch_soft);
}

}  // namespace
}  // namespace ration::meta
