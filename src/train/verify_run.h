#pragma once

#include <string>
#include <vector>

#include "ration/privacy/certificate.h"

namespace ration {

// What a certificate is held against, beside the files it lies among; each may be empty.
struct VerifyOptions {
  std::string data{};    // the rows, as --data names them
  std::string ledger{};  // if empty: where plan and certificate say, if it is there
  std::string key{};     // file with the Ed25519 public key (PEM) of whoever must have signed
};

struct RunVerification {
  std::string file;     // the certificate's
  std::string bytes{};  // of that file, read once: all that was checked, and all that may be signed
  Certificate certificate{};
  double epsilon = 0;                      // recomputed from its events
  std::vector<std::string> problems{};     // each says which file, what was stated and what was found
  std::vector<std::string> checked{};      // "model.json", ..., "the ledger", "the rows", "the signature"
  std::vector<std::string> not_checked{};  // and why
  std::vector<std::string> cautions{};     // of the certificate, and what it should caution of

  bool holds() const { return problems.empty(); }
};

// Compares everything a certificate states with what there is: its events by accounting for them again
// (privacy/certificate.h), certificate.txt by writing it again, model, plan, schema and the other files by
// their hashes, its figures and names with those of the plan, its entry with the ledger, the data hash with
// the rows, the signature with the key.
//
// `run` is a folder, whose files must all be there, or a certificate's file, beside which files may be absent
// and are then listed as not checked. A certificate of ration 0.2 or older names no files; that is listed
// too. Whoever can write the whole folder can make a certificate that holds: only a ledger, the rows and a
// signature tell whose it is.
//
// Throws InputError if there is no certificate, or what an option names cannot be read.
RunVerification verify_run(const std::string& run, const VerifyOptions& options = {});

// Where the signature of a certificate lies: certificate.sig.
std::string signature_file(const std::string& certificate_file);

}  // namespace ration
