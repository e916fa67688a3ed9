#include "text/audit_text.h"

#include <fmt/format.h>

#include "base/check.h"
#include "text/text_table.h"

namespace ration::cli {
namespace {

using nlohmann::ordered_json;

std::string verdict_of(const audit::Finding& finding) {
  if (!finding.counts) return "holds for Gaussian noise alone";
  return finding.contradicts() ? "CONTRADICTS THE CLAIM" : "";
}

std::string conclusion(const audit::Report& report) {
  const std::string confidence =
      fmt::format("confidence {} for all bounds together", show(report.confidence));
  if (report.contradicts()) {
    return fmt::format("The claim is false ({}): an attack told neighbours apart better than it allows.\n",
                       confidence);
  }
  return fmt::format(
      "No attack contradicts the claim ({}). That proves no privacy: a better attack may exist.\n",
      confidence);
}

}  // namespace

std::string to_text(const audit::Report& report) {
  TextTable table({{"attack"},
                   {"theorem"},
                   {"claim", TextTable::Align::right},
                   {"at least", TextTable::Align::right},
                   {"confidence", TextTable::Align::right},
                   {""}});
  for (const audit::Finding& one : report.findings) {
    table.add_row({one.attack, one.theorem, show_rounded_up(one.claim), fmt::format("{:.4f}", one.bound),
                   fmt::format("{:.4f}", one.confidence), verdict_of(one)});
  }
  return fmt::format("{}, epsilon at delta {} ({})\n\n{}\n{}", report.subject, show(report.claim.delta),
                     to_string(report.claim.relation), table.render(), conclusion(report));
}

ordered_json to_json(const audit::Report& report) {
  ordered_json json{{"audited", report.subject},        {"claim", report.claim.epsilon},
                    {"delta", report.claim.delta},      {"relation", to_string(report.claim.relation)},
                    {"confidence", report.confidence},  {"contradicted", report.contradicts()},
                    {"findings", ordered_json::array()}};
  for (const audit::Finding& one : report.findings) {
    json["findings"].push_back({{"attack", one.attack},
                                {"theorem", one.theorem},
                                {"claim", one.claim},
                                {"bound", one.bound},
                                {"confidence", one.confidence},
                                {"counts", one.counts},
                                {"contradicts", one.contradicts()}});
  }
  return json;
}

}  // namespace ration::cli
