#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "metrics/score_histogram.h"
#include "oracle/noisy_accuracy.h"
#include "ration/base/random.h"
#include "ration/privacy/certificate.h"
#include "ration/train/model.h"

namespace ration {

struct PrivateEvaluationOptions {
  NoisyAccuracyOptions accuracy{};
  // A histogram of scores in place of two counts: for models of two classes.
  bool scores = false;
  data::OnBadRow on_bad_row = data::OnBadRow::refuse;  // rows that are left out count as wrong
  std::string ledger{};    // charged before a row is read; empty: nobody keeps account
  bool data_hash = false;  // the SHA-256 of the rows in the certificate (data/data_hash.h)
  // Where the files below go: a folder without them; or, in a run's folder, one that is made for them,
  // evaluation-1 or the next number that is free. Both empty: nothing is written.
  std::string out{};
  std::string run{};
};

// What a histogram of scores says.
struct NoisyScores {
  std::vector<double> counts{};  // cell by cell (metrics/score_histogram.h): the release itself
  ScoreFigures figures{};
  std::vector<AtThreshold> thresholds{};
  std::vector<CalibratedBin> calibration{};  // of models that give probabilities
};

struct PrivateEvaluation {
  NoisyAccuracy found;  // from the scores, if they were asked for
  std::optional<NoisyScores> scores{};
  double noise_scale = 0;             // on each count
  Certificate certificate;            // of this release alone, delta 0
  std::optional<Budget> remaining{};  // in the ledger, if there is one
  std::string folder{};               // with the files; or empty
};

// How often a classifier is right on private rows, or how well it ranks them, with a certificate: the only
// way from them to a figure.
//
// Order       what is asked is checked, the ledger charged, the rows read, the noisy counts released, and the
//             files of `out` written: certificate.json, certificate.txt, evaluation.json. The charge is given
//             back if the file as a whole does not fit the schema; what is refused because of what rows hold
//             stays charged, as an answer about them.
// Throws InputError for what cannot be evaluated or written, BudgetRefused if the ledger has too little left.
PrivateEvaluation evaluate_privately(const Model& model, const std::string& data,
                                     const PrivateEvaluationOptions& options, RandomSource& random);

// What it found, for programs: the keys that evaluation.json and `ration evaluate --json` share.
nlohmann::ordered_json figures_to_json(const Model& model, const PrivateEvaluation& result);

}  // namespace ration
