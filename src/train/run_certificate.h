#pragma once

#include <optional>
#include <string>

#include "ration/privacy/certificate.h"
#include "ration/train/resolve.h"
#include "train/training.h"

namespace ration {

// What a certificate states beside its events.
struct Circumstances {
  std::string data_hash;  // as data/data_hash.h states it
  bool secure_random = false;
  std::optional<LedgerEntry> ledger{};
};

// What every certificate says of them, and what it cannot cover because of them.
void state(const Circumstances& circumstances, Certificate& certificate);

// What is taken for granted of rows that break the schema.
std::string assumed_of_rows(data::OnBadRow on_bad_row);

// The certificate of a training that has taken all its steps.
Certificate certify_training(const ResolvedPlan& plan, const Training& training,
                             const Circumstances& circumstances);

}  // namespace ration
