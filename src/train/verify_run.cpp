#include "train/verify_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/quote.h"
#include "base/signature.h"
#include "base/version.h"
#include "data/data_hash.h"
#include "data/named_data.h"
#include "privacy/cautions.h"
#include "privacy/sampler_delta.h"
#include "ration/base/error.h"
#include "ration/privacy/ledger.h"
#include "ration/train/resolve.h"
#include "train/plan_files.h"

namespace ration {
namespace {

namespace fs = std::filesystem;

constexpr double kLastDigits = 1e-9;  // as in privacy/certificate.cpp

// A plan resolved by another version or on another processor; its exact text is bound by its hash.
constexpr double kSamePlan = 1e-6;

bool nearly_equal(double a, double b, double tolerance = kLastDigits) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

bool nearly_equal(const Budget& a, const Budget& b) {
  return nearly_equal(a.epsilon, b.epsilon) && nearly_equal(a.delta, b.delta);
}

std::string in_words(const Budget& budget) {
  return fmt::format("epsilon {}, delta {}", show(budget.epsilon), show(budget.delta));
}

// Enough for people to tell hashes apart.
std::string beginning(std::string_view hash) {
  return std::string(hash.substr(0, 16)) + (hash.size() > 16 ? "..." : "");
}

std::string stated_and_found(std::string_view file, std::string_view what, std::string_view stated,
                             std::string_view found) {
  return fmt::format("{}: the certificate states {} {}, found {}", file, what, stated, found);
}

Certificate certificate_from(const std::string& text, const std::string& file) {
  try {
    return certificate_from_json(text);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", file, error.what()));
  }
}

// What a folder may hold that says something of the model, and what made it.
std::vector<std::string> files_worth_binding() {
  std::vector<std::string> names{"model.json", "model.safetensors", "plan.toml", "evaluation.json"};
  for (const PlanFile& file : plan_files()) names.emplace_back(file.copy);
  return names;
}

class Check {
 public:
  Check(const std::string& run, const VerifyOptions& options)
      : options_(options),
        whole_folder_(fs::is_directory(run)),
        file_(whole_folder_ ? fs::path(run) / "certificate.json" : fs::path(run)),
        out_{.file = file_.string(), .bytes = read_file(file_.string())} {
    out_.certificate = certificate_from(out_.bytes, out_.file);
  }

  RunVerification all() && {
    check_certificate();
    check_text();
    check_files();
    check_plan();
    check_ledger();
    check_data();
    check_signature();
    check_cautions();
    return std::move(out_);
  }

 private:
  const Certificate& certificate() const { return out_.certificate; }
  fs::path beside(const std::string& name) const { return file_.parent_path() / name; }
  // Each file is read once, so that what is compared with the certificate is what is looked at.
  const std::string& bytes_of(const std::string& name) {
    const auto [at, is_new] = bytes_.try_emplace(name);
    if (is_new) at->second = read_file(beside(name).string());
    return at->second;
  }
  void problem(std::string text) { out_.problems.push_back(std::move(text)); }
  void checked(std::string what) { out_.checked.push_back(std::move(what)); }
  void not_checked(std::string what) { out_.not_checked.push_back(std::move(what)); }
  // A file that ought to be there.
  void absent(const std::string& name) {
    if (whole_folder_)
      return problem(fmt::format("{}: the certificate speaks of it, but it is missing", name));
    not_checked(fmt::format("{}: not beside the certificate", name));
  }
  // Certificates of ration 0.2 and older.
  bool is_old() const {
    const Certificate& c = certificate();
    return !c.budget && c.date.empty() && c.files.empty() && c.not_private.empty();
  }

  void check_certificate() {
    Verification found = verify(certificate());
    out_.epsilon = found.epsilon;
    for (std::string& one : found.problems) problem(std::move(one));
    if (is_old()) {
      not_checked(fmt::format("a budget: certificates of ration {} state none", certificate().version));
    } else if (!certificate().budget && certificate().not_private.empty()) {
      problem("it states no budget");
    }
  }

  void check_text() {
    const fs::path text = fs::path(file_).replace_extension(".txt");
    const std::string name = text.filename().string();
    if (!fs::exists(text)) {
      if (!is_old()) absent(name);
      return;
    }
    const std::string found = read_file(text.string());
    const std::string expected = to_text(certificate());
    if (found != expected && certificate().version != version()) return check_guarantee_in(name, found);
    if (found != expected) problem(first_difference(name, expected, found));
    checked(name);
  }

  // Another version may have used other words; what it guarantees stands in a line of its own.
  void check_guarantee_in(const std::string& name, const std::string& found) {
    const std::string expected = to_text(certificate());
    const std::size_t begin = expected.find("Guarantee ");
    if (begin == std::string::npos)
      return not_checked(fmt::format("{}: in the words of another version", name));
    const std::string line = expected.substr(begin, expected.find('\n', begin) + 1 - begin);
    if (found.find("\n" + line) == std::string::npos) return problem(first_difference(name, expected, found));
    not_checked(
        fmt::format("{}: in the words of ration {}, except for its guarantee", name, certificate().version));
  }

  static std::string first_difference(const std::string& name, std::string_view expected,
                                      std::string_view found) {
    const auto differ = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
    const auto line_of = [](std::string_view text, std::size_t at) {
      const std::size_t end_before = text.substr(0, at).rfind('\n');
      const std::size_t begin = end_before == std::string_view::npos ? 0 : end_before + 1;
      return one_short_line(text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin));
    };
    return fmt::format("{}: the certificate says '{}', found '{}'", name,
                       line_of(expected, static_cast<std::size_t>(differ.first - expected.begin())),
                       line_of(found, static_cast<std::size_t>(differ.second - found.begin())));
  }

  // --- files

  void check_files() {
    for (const BoundFile& file : certificate().files) check_file(file);
    for (const std::string& name : files_worth_binding()) {
      if (is_bound(name) || !fs::exists(beside(name))) continue;
      if (is_old()) {
        not_checked(
            fmt::format("{}: a certificate of ration {} does not bind it", name, certificate().version));
      } else {
        problem(fmt::format("{}: the certificate states no hash of it, found it in the folder", name));
      }
    }
  }

  bool is_bound(const std::string& name) const {
    return std::any_of(certificate().files.begin(), certificate().files.end(),
                       [&](const BoundFile& file) { return file.name == name; });
  }

  void check_file(const BoundFile& file) {
    if (fs::path(file.name).filename() != file.name)
      return problem(
          fmt::format("the certificate names a file {} that is not beside it", in_quotes(file.name)));
    if (!fs::exists(beside(file.name))) return absent(file.name);
    const std::string found = sha256(bytes_of(file.name));
    if (found != file.sha256) {
      return problem(stated_and_found(file.name, "sha256", beginning(file.sha256), beginning(found)));
    }
    checked(file.name);
  }

  // --- plan

  void check_plan() {
    if (!certificate().unit.empty() && !is_bound("plan.toml"))
      problem(fmt::format("it states that {} is protected, but no plan that says so",
                          certificate().unit_of_privacy));
    if (!fs::exists(beside("plan.toml"))) return;
    const std::string file = beside("plan.toml").string();
    try {
      Plan plan = parse_plan(bytes_of("plan.toml"), file);
      if (plan.schema != beside("schema.toml")) plan.schema.clear();  // no file elsewhere is opened
      rows_declared_ = plan.units ? plan.units : plan.rows;
      ledger_of_plan_ = plan.ledger;
      compare_with(plan);
    } catch (const InputError& error) {
      cannot_resolve(error.what());
    } catch (const BudgetRefused& error) {
      problem(fmt::format("plan.toml: {}", error.what()));
    }
  }

  // A plan that is the run's own may name what this program lacks: a network, say.
  void cannot_resolve(const std::string& why) {
    const bool own = std::find(out_.checked.begin(), out_.checked.end(), "plan.toml") != out_.checked.end();
    if (own) return not_checked(fmt::format("what plan.toml says: {}", why));
    problem(fmt::format("plan.toml: {}", why));
  }

  void compare_with(const Plan& given) {
    const ResolvedPlan plan = resolve_allowing_last_digits(given);
    compare("relation", to_string(certificate().relation), to_string(plan.relation));
    if (plan.is_private())
      compare("that it protects", certificate().unit_of_privacy,
              unit_in_words(plan.plan.unit, plan.plan.rows_per_unit.value_or(0)));
    if (!plan.is_private() || !certificate().not_private.empty()) {
      compare("privacy", certificate().not_private.empty() ? "a guarantee" : "none",
              plan.is_private() ? "a guarantee" : "none");
      return;
    }
    compare("accountant", to_string(certificate().accountant), to_string(plan.accountant));
    compare("that the budget was spent by", to_string(certificate().spending_by),
            to_string(plan.spending_by()));
    // Only a run that chose by its outputs is certified for its budget; older certificates do not state it.
    const bool adaptive = plan.spending_by() == SpendingBy::outputs;
    const Budget stated = certificate().budget.value_or(Budget{certificate().epsilon, certificate().delta});
    const double epsilon = certificate().budget || adaptive ? *given.epsilon : stated.epsilon;
    if (stated.epsilon != epsilon || stated.delta != *given.delta)
      compare("a budget of", in_words(stated), in_words({epsilon, *given.delta}));
    if (certificate().budget && !certificate().sampler_delta && keeps_sampler_part(stated))
      problem(
          "plan.toml: such a run keeps a part of delta for its random numbers; the certificate states none");
    if (!adaptive) compare_releases(plan);
    if (!certificate().model.empty()) compare("model", certificate().model, plan.plan.model.name());
    if (!certificate().data.empty()) compare("data", certificate().data, given.data);
  }

  // By what they cost, accounted for as the certificate's are.
  void compare_releases(const ResolvedPlan& plan) {
    Certificate planned = certificate();
    planned.events = flatten(plan.event());
    const double cost = verify(planned).epsilon;
    if (nearly_equal(cost, out_.epsilon, kSamePlan)) return;
    compare("releases that cost epsilon", show(out_.epsilon), show(cost));
  }

  // Another processor, or a version that keeps a little of delta, may find that the plan costs its budget and
  // a little more.
  static ResolvedPlan resolve_allowing_last_digits(const Plan& plan) {
    try {
      return resolve(plan);
    } catch (const BudgetRefused&) {
      Plan roomy = plan;
      roomy.epsilon = *plan.epsilon * (1 + kSamePlan);
      return resolve(roomy);
    }
  }

  void compare(std::string_view what, std::string_view stated, std::string_view in_plan) {
    if (stated != in_plan) problem(stated_and_found("plan.toml", what, stated, in_plan));
  }

  // --- ledger

  // Where it may be; empty if nowhere.
  std::string find_ledger() const {
    if (!options_.ledger.empty()) return options_.ledger;
    const std::string of_plan =
        ledger_of_plan_.empty() ? "" : path_seen_from(file_.parent_path().string(), ledger_of_plan_);
    for (const std::string& place : {of_plan, certificate().ledger->file}) {
      if (fs::is_regular_file(place)) return place;
    }
    return "";
  }

  void check_ledger() {
    if (!certificate().ledger) {
      if (options_.ledger.empty()) return;
      return problem(fmt::format("{}: the certificate states no ledger, found none of its runs to compare",
                                 options_.ledger));
    }
    const std::string place = find_ledger();
    if (place.empty())
      return not_checked(
          fmt::format("the ledger {}: not found; give --ledger FILE", certificate().ledger->file));
    ledger_.emplace(Ledger::open_to_read(place));
    compare_with(*ledger_);
    checked("the ledger");
  }

  void compare_with(const Ledger& ledger) {
    const LedgerEntry& entry = *certificate().ledger;
    const std::vector<LedgerRun> runs = ledger.runs();
    const auto run =
        std::find_if(runs.begin(), runs.end(), [&](const LedgerRun& one) { return one.id == entry.run; });
    if (run == runs.end())
      return problem(stated_and_found(ledger.path(), "run", std::to_string(entry.run), "none"));
    const std::string where = fmt::format("{}, run {}", ledger.path(), entry.run);
    const auto differs = [&](std::string_view what, std::string_view stated, std::string_view found) {
      problem(stated_and_found(where, what, stated, found));
    };
    const std::string stated = fingerprint_stated(ledger);
    if (run->data_hash != stated)
      differs("data hash", beginning(certificate().data_hash), beginning(run->data_hash));
    const DataSetBudget data = data_set_of(ledger, run->data_hash);
    if (data.relation != certificate().relation)
      differs("relation", to_string(certificate().relation), to_string(data.relation));
    if (data.unit != certificate().unit)
      differs("that what is protected is a", what_is_protected(certificate().unit),
              what_is_protected(data.unit));
    if (!nearly_equal(entry.reserved, run->reserved))
      differs("a reservation of", in_words(entry.reserved), in_words(run->reserved));
    const Budget guarantee{certificate().epsilon, certificate().delta};
    if (run->status == RunStatus::settled && !nearly_equal(guarantee, run->stated))
      differs("a guarantee of", in_words(guarantee), in_words(run->stated));
    if (run->charged.epsilon < guarantee.epsilon * (1 - kLastDigits) ||
        run->charged.delta < guarantee.delta * (1 - kLastDigits))
      differs("a charge of at least", in_words(guarantee), in_words(run->charged));
  }

  // As the ledger lists it. Older certificates, and those that were asked for it, state the hash of the rows.
  std::string fingerprint_stated(const Ledger& ledger) const {
    const std::string& stated = certificate().data_hash;
    if (data::is_plain_data_hash(stated)) return ledger.fingerprint(stated);
    return std::string(data::fingerprint_in(stated));
  }

  static DataSetBudget data_set_of(const Ledger& ledger, const std::string& fingerprint) {
    for (const LedgerState& one : ledger.states()) {
      if (one.data.hash == fingerprint) return one.data;
    }
    throw InputError(
        fmt::format("{}: the ledger is damaged: it has a run of data that it does not know", ledger.path()));
  }

  // --- rows

  void check_data() {
    if (options_.data.empty()) return not_checked("the rows: give --data FILE");
    const std::string data = data::find_data(options_.data);
    const std::string& stated = certificate().data_hash;
    const std::optional<bool> same = data::same_data(stated, data, ledger_ ? &*ledger_ : nullptr);
    if (!same && !stated.empty())
      return problem(fmt::format("{}: only the ledger can tell; give --ledger FILE", options_.data));
    if (!same) return problem(fmt::format("{}: the certificate states no hash of its rows", options_.data));
    if (!*same) {
      return problem(stated_and_found(options_.data, "data hash", beginning(stated), "another"));
    }
    checked("the rows");
  }

  // --- signature

  void check_signature() {
    const std::string file = signature_file(out_.file);
    const std::string name = fs::path(file).filename().string();
    const bool exists = fs::exists(file);
    if (options_.key.empty()) {
      if (exists) not_checked(fmt::format("{}: give --key PUBLIC_KEY", name));
      return;
    }
    const VerifyingKey key = VerifyingKey::read(options_.key);
    if (!exists)
      return problem(fmt::format("{}: expected a signature by {}, found none", name, options_.key));
    if (!key.has_signed(out_.bytes, read_file(file)))
      return problem(fmt::format("{}: expected a signature of {} by {}, found another", name,
                                 file_.filename().string(), options_.key));
    checked("the signature");
  }

  // --- cautions

  // Those that follow from what is stated; what a noisy count told, only the certificate knows.
  void check_cautions() {
    out_.cautions = certificate().cautions;
    if (!certificate().not_private.empty()) return;
    for (std::string& one : cautions_for({certificate().epsilon, certificate().delta}, rows_declared_)) {
      if (std::find(out_.cautions.begin(), out_.cautions.end(), one) != out_.cautions.end()) continue;
      if (!is_old() && certificate().version == version())
        problem(fmt::format("it states no caution, but ought to: {}", one));
      out_.cautions.push_back(std::move(one));
    }
  }

  const VerifyOptions& options_;
  bool whole_folder_;
  fs::path file_;
  RunVerification out_;
  std::map<std::string, std::string> bytes_;  // of files beside the certificate
  std::optional<double> rows_declared_;
  std::string ledger_of_plan_;
  std::optional<Ledger> ledger_;
};

}  // namespace

RunVerification verify_run(const std::string& run, const VerifyOptions& options) {
  return Check(run, options).all();
}

std::string signature_file(const std::string& certificate_file) {
  return fs::path(certificate_file).replace_extension(".sig").string();
}

}  // namespace ration
