#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/check.h"
#include "commands/commands.h"
#include "flags/common_flags.h"
#include "flags/explain.h"
#include "ration/base/error.h"
#include "ration/privacy/certificate.h"
#include "text/output.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

struct VerifyFlags {
  std::optional<std::string> file;
  bool json = false;
};

// A run's folder stands for the certificate in it.
std::string file_of(const std::string& path) {
  return std::filesystem::is_directory(path) ? (std::filesystem::path(path) / "certificate.json").string()
                                             : path;
}

Certificate read_certificate(const std::string& path) {
  const std::string text = read_file(path);
  try {
    return certificate_from_json(text);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

ordered_json to_json(const std::string& file, const Certificate& certificate, const Verification& found) {
  ordered_json json{{"certificate", file},
                    {"verified", found.holds()},
                    {"epsilon", certificate.epsilon},
                    {"delta", certificate.delta},
                    {"epsilon_of_events", nullptr},
                    {"accountant", to_string(certificate.accountant)},
                    {"relation", to_string(certificate.relation)},
                    {"problems", found.problems}};
  if (std::isfinite(found.epsilon)) json["epsilon_of_events"] = found.epsilon;
  return json;
}

void run_verify(const VerifyFlags& flags) {
  if (!flags.file) throw InputError("verify: which certificate? ration verify FILE, or a run's folder");
  const std::string file = file_of(*flags.file);
  const Certificate certificate = read_certificate(file);
  const Verification found = verify(certificate);
  if (flags.json) print(to_json(file, certificate, found).dump(2) + "\n");
  if (!found.holds())
    throw InputError(fmt::format("{}: not verified: {}", file, fmt::join(found.problems, "; ")));
  if (flags.json) return;
  print(fmt::format("{}: verified: epsilon {}, delta {}; its events cost {} by {}\n", file,
                    show_rounded_up(certificate.epsilon), show_rounded_up(certificate.delta),
                    show_rounded_up(found.epsilon), to_string(certificate.accountant)));
}

}  // namespace

void add_verify(CLI::App& app) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App& command = *app.add_subcommand("verify", "Check a certificate by recomputing what it states");
  command.add_option("file", flags->file, "Folder of a run, or its certificate.json")->type_name("RUN");
  add_json_flag(command, flags->json);
  explain(command, {.examples = "ration verify run\nration verify run/certificate.json --json\n"});
  command.callback([flags] { run_verify(*flags); });
}

}  // namespace ration::cli
