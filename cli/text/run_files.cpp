#include "text/run_files.h"

namespace ration::cli {

std::vector<KnownFile> run_files() {
  return {
      {"model.json", "The trained model"},
      {"certificate.json", "The privacy certificate, for 'ration verify'"},
      {"certificate.txt", "The same certificate, for people"},
      {"plan.toml", "The plan with all its settings, for 'ration train --plan'"},
      {"schema.toml", "What is public about the data"},
      {"progress.csv", "One line per step, as private as the model"},
      {"schedule.csv", "The noise of each step, if the plan named a file of its own"},
      {"learned.protector", "The protector of --method l2p"},
      {"evaluation-1, evaluation-2, ...", "Certificates of private evaluations, by 'ration evaluate'"},
      {"checkpoint", "Where an interrupted run can be resumed from; removed when the run ends"},
  };
}

}  // namespace ration::cli
