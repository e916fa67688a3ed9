#pragma once

#include <optional>
#include <string>

#include "ration/privacy/certificate.h"
#include "ration/train/resolve.h"
#include "train/training.h"

namespace ration {

// What a certificate states beside its events.
struct Circumstances {
  std::string data_hash;
  bool secure_random = false;
  std::optional<LedgerEntry> ledger{};
};

// What every certificate says of them, and what it cannot cover because of them.
void state(const Circumstances& circumstances, Certificate& certificate);

// The certificate of a training that has taken all its steps.
Certificate certify_training(const ResolvedPlan& plan, const Training& training,
                             const Circumstances& circumstances);

}  // namespace ration
