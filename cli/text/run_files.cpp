#include "text/run_files.h"

namespace ration::cli {

std::vector<KnownFile> run_files() {
  return {
      {"model.json", "The trained model"},
      {"certificate.json", "The privacy certificate, for 'ration verify'"},
      {"certificate.txt", "The same certificate, for people"},
      {"certificate.sig", "Its signature, if somebody signed it by --sign"},
      {"plan.toml", "The plan with all its settings, for 'ration train --plan'"},
      {"schema.toml", "What is public about the data"},
      {"progress.csv", "One line per step, as private as the model"},
      {"private-rows.json", "By which 'ration evaluate --public' knows the rows of the run; no secret"},
      {"schedule.csv", "The noise of each step, if the plan named a file of its own"},
      {"learned.protector", "The protector of --method l2p"},
      {"evaluation-1, evaluation-2, ...", "Certificates of private evaluations, by 'ration evaluate'"},
      {"audit.json, audit.txt, audit.svg", "What 'ration audit --attach' found"},
      {"checkpoint", "Where an interrupted run can be resumed from; removed when the run ends"},
  };
}

}  // namespace ration::cli
