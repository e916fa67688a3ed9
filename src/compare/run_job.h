#pragma once

#include "compare/job_inputs.h"
#include "compare/run.h"

namespace ration::compare {

struct JobOutcome {
  Run run;
  Trace trace;  // without points but for the first fold
};

// Trains and measures, on the calling thread alone.
JobOutcome run_job(const Job& job, const Comparison& comparison, JobInputs& inputs, Held& held);

}  // namespace ration::compare
