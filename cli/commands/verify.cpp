#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/signature.h"
#include "commands/commands.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "ration/base/error.h"
#include "text/output.h"
#include "train/verify_run.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

struct VerifyFlags {
  std::optional<std::string> run, data, ledger, key, sign;
  bool json = false;
};

ordered_json to_json(const RunVerification& found, bool is_signed) {
  const Certificate& certificate = found.certificate;
  ordered_json json{{"certificate", found.file},
                    {"verified", found.holds()},
                    {"epsilon", certificate.epsilon},
                    {"delta", certificate.delta},
                    {"epsilon_of_events", nullptr},
                    {"accountant", to_string(certificate.accountant)},
                    {"relation", to_string(certificate.relation)},
                    {"problems", found.problems},
                    {"checked", found.checked},
                    {"not_checked", found.not_checked},
                    {"cautions", found.cautions},
                    {"signed", is_signed}};
  if (std::isfinite(found.epsilon)) json["epsilon_of_events"] = found.epsilon;
  return json;
}

std::string to_text(const RunVerification& found) {
  const Certificate& certificate = found.certificate;
  std::string text = fmt::format("{}: verified: epsilon {}, delta {}; its events cost {} by {}\n", found.file,
                                 show_rounded_up(certificate.epsilon), show_rounded_up(certificate.delta),
                                 show_rounded_up(found.epsilon), to_string(certificate.accountant));
  if (!found.checked.empty()) text += fmt::format("it agrees with {}\n", fmt::join(found.checked, ", "));
  for (const std::string& one : found.not_checked) text += fmt::format("not checked: {}\n", one);
  for (const std::string& one : found.cautions) text += fmt::format("caution: {}\n", one);
  return text;
}

// Each problem has a line of its own; the last is the program's last word.
[[noreturn]] void refuse(const RunVerification& found) {
  const auto line = [&found](const std::string& problem) {
    return fmt::format("{}: not verified: {}", found.file, problem);
  };
  for (const std::string& one : found.problems) {
    if (&one != &found.problems.back()) std::fputs(fmt::format("ration: {}\n", line(one)).c_str(), stderr);
  }
  throw InputError(line(found.problems.back()));
}

// The very bytes that were checked: the file may be another by now.
void sign(const RunVerification& found, const SigningKey& key) {
  write_file_atomically(signature_file(found.file), key.sign(found.bytes));
}

void run_verify(const VerifyFlags& flags) {
  if (!flags.run) throw InputError("verify: which certificate? ration verify RUN, or its certificate.json");
  std::optional<SigningKey> signing_key;
  if (flags.sign) signing_key = SigningKey::read(*flags.sign);
  const RunVerification found = verify_run(
      *flags.run,
      {.data = flags.data.value_or(""), .ledger = flags.ledger.value_or(""), .key = flags.key.value_or("")});
  const bool to_be_signed = signing_key && found.holds();
  if (to_be_signed) sign(found, *signing_key);
  if (flags.json) print(json_text(to_json(found, to_be_signed)));
  if (!found.holds()) refuse(found);
  if (flags.json) return;
  print(to_text(found));
  if (to_be_signed) print(fmt::format("signed: {}\n", signature_file(found.file)));
}

constexpr const char* kAbout =
    "Recomputes what a certificate states from its releases, writes certificate.txt again and compares, and "
    "compares model, plan, schema and the other files of the run by their hashes. Each difference is one "
    "line, and the exit status is 1.\n\n"
    "A key pair to sign with: openssl genpkey -algorithm ed25519 -out key.pem, and openssl pkey -in key.pem "
    "-pubout -out key.pub for those who verify.";

constexpr const char* kExamples = R"(ration verify run
ration verify run --data adult.csv --ledger budget.db
ration verify run --key key.pub
ration verify run/certificate.json --json
)";

}  // namespace

void add_verify(CLI::App& app) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App& command =
      *app.add_subcommand("verify", "Check what a certificate states against everything it is of");
  command.add_option("run", flags->run, "Folder of a run, or its certificate.json")->type_name("RUN");
  command.add_option("--data", flags->data, "The rows: check that they are those of the certificate")
      ->type_name("FILE");
  command
      .add_option("--ledger", flags->ledger,
                  "The ledger: check the run's entry; default: the run's, if found")
      ->type_name("FILE");
  command
      .add_option("--key", flags->key,
                  "Ed25519 public key (PEM): check the signature, and refuse if there is none")
      ->type_name("FILE");
  command
      .add_option("--sign", flags->sign,
                  "Ed25519 private key (PEM): sign the certificate if everything holds")
      ->type_name("FILE");
  add_json_flag(command, flags->json);
  explain(command, {.about = kAbout, .examples = kExamples});
  command.callback([flags] { run_verify(*flags); });
}

}  // namespace ration::cli
