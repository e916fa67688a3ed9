#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "output.h"
#include "ration/base/check.h"
#include "ration/base/error.h"
#include "ration/privacy/certificate.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

struct VerifyFlags {
  std::optional<std::string> file;
  bool json = false;
};

std::string read_text(const std::string& path) {
  if (std::filesystem::is_directory(path))
    throw InputError(fmt::format("{}: is a folder; expected a certificate", path));
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(fmt::format("{}: cannot read: {}", path, std::strerror(errno)));
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Certificate read_certificate(const std::string& path) {
  const std::string text = read_text(path);
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
  if (!flags.file) throw InputError("verify: which certificate? ration verify FILE");
  const Certificate certificate = read_certificate(*flags.file);
  const Verification found = verify(certificate);
  if (flags.json) print(to_json(*flags.file, certificate, found).dump(2) + "\n");
  if (!found.holds())
    throw InputError(fmt::format("{}: not verified: {}", *flags.file, fmt::join(found.problems, "; ")));
  if (flags.json) return;
  print(fmt::format("{}: verified: epsilon {}, delta {}; its events cost {} by {}\n", *flags.file,
                    show_rounded_up(certificate.epsilon), show_rounded_up(certificate.delta),
                    show_rounded_up(found.epsilon), to_string(certificate.accountant)));
}

}  // namespace

void add_verify(CLI::App& app) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App& command = *app.add_subcommand("verify", "Recompute what a run's certificate states");
  command.add_option("file", flags->file, "certificate.json of a run")->type_name("FILE");
  command.add_flag("--json", flags->json, "One JSON object on standard output, nothing else there");
  command.footer(
      "\nExamples:\n  ration verify run/certificate.json\n  ration verify run/certificate.json --json\n");
  command.callback([flags] { run_verify(*flags); });
}

}  // namespace ration::cli
