#include "compare/run_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/check.h"

namespace ration::compare {
namespace {

constexpr std::size_t kRunFields = 20;
constexpr std::size_t kTraceFields = 10;

std::string shown(const std::optional<double>& value) {
  return value ? show(*value) : "";
}

// A reason on one line, quoted; empty if there is none.
std::string quoted(const std::string& text) {
  if (text.empty()) return "";
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += std::iscntrl(static_cast<unsigned char>(c)) != 0 ? ' ' : c;
  }
  return out + "\"";
}

std::optional<std::string> unquoted(std::string_view text) {
  if (text.empty()) return "";
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  std::string out;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '"') ++i;
    out += text[i];
  }
  return out;
}

// The first `count` - 1 fields hold no comma; the rest is the last field.
std::vector<std::string_view> fields_of(std::string_view line, std::size_t count) {
  std::vector<std::string_view> fields;
  while (fields.size() + 1 < count) {
    const std::size_t comma = line.find(',');
    if (comma == std::string_view::npos) return {};
    fields.push_back(line.substr(0, comma));
    line.remove_prefix(comma + 1);
  }
  fields.push_back(line);
  return fields;
}

// Reads field after field; `whole` tells at the end whether all of them were sound.
class FieldReader {
 public:
  explicit FieldReader(const std::vector<std::string_view>& fields) : fields_(fields) {}

  std::string text() { return std::string(fields_[next_++]); }
  template <class Number>
  Number number() {
    const std::string_view field = fields_[next_++];
    Number value{};
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    whole_ = whole_ && error == std::errc() && end == field.data() + field.size();
    return value;
  }
  std::optional<double> optional_number() {
    if (!fields_[next_].empty()) return number<double>();
    ++next_;
    return std::nullopt;
  }
  std::string reason() {
    auto value = unquoted(fields_[next_++]);
    whole_ = whole_ && value.has_value();
    return value.value_or("");
  }
  RunName name() {
    RunName name{.data = text(), .model = text(), .method = text()};
    name.epsilon = optional_number();
    name.repeat = number<std::size_t>();
    name.fold = number<std::size_t>();
    return name;
  }
  bool whole() const { return whole_; }

 private:
  const std::vector<std::string_view>& fields_;
  std::size_t next_ = 0;
  bool whole_ = true;
};

std::string to_text(const RunName& name) {
  return fmt::format("{},{},{},{},{},{}", name.data, name.model, name.method, shown(name.epsilon),
                     name.repeat, name.fold);
}

}  // namespace

std::string runs_header() {
  return "data,model,method,epsilon,repeat,fold,accuracy,loss,objective,seconds,steps,epsilon_spent,"
         "noise_multiplier,accountant,relation,auc,log_loss,r2,mean_absolute_error,refused\n";
}

std::string to_line(const Run& run) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", to_text(run.name), shown(run.accuracy),
                     show(run.loss), show(run.objective), show(run.seconds), run.steps,
                     shown(run.epsilon_spent), shown(run.noise_multiplier), run.accountant, run.relation,
                     shown(run.auc), shown(run.log_loss), shown(run.r2), shown(run.mean_absolute_error),
                     quoted(run.refused));
}

std::optional<Run> run_of_line(std::string_view line) {
  const auto fields = fields_of(line, kRunFields);
  if (fields.empty()) return std::nullopt;
  FieldReader in(fields);
  Run run{.name = in.name()};
  run.accuracy = in.optional_number();
  run.loss = in.number<double>();
  run.objective = in.number<double>();
  run.seconds = in.number<double>();
  run.steps = in.number<std::int64_t>();
  run.epsilon_spent = in.optional_number();
  run.noise_multiplier = in.optional_number();
  run.accountant = in.text();
  run.relation = in.text();
  run.auc = in.optional_number();
  run.log_loss = in.optional_number();
  run.r2 = in.optional_number();
  run.mean_absolute_error = in.optional_number();
  run.refused = in.reason();
  if (!in.whole()) return std::nullopt;
  return run;
}

std::string trace_header() {
  return "data,model,method,epsilon,repeat,fold,step,budget_share,learning_rate,noise\n";
}

std::string to_lines(const Trace& trace) {
  std::string lines;
  for (const TracePoint& point : trace.points) {
    lines += fmt::format("{},{},{},{},{}\n", to_text(trace.name), point.step, show(point.budget_share),
                         show(point.learning_rate), show(point.noise));
  }
  return lines;
}

std::optional<TraceLine> trace_of_line(std::string_view line) {
  const auto fields = fields_of(line, kTraceFields);
  if (fields.empty()) return std::nullopt;
  FieldReader in(fields);
  TraceLine out{.name = in.name(), .point = {}};
  out.point.step = in.number<std::int64_t>();
  out.point.budget_share = in.number<double>();
  out.point.learning_rate = in.number<double>();
  out.point.noise = in.number<double>();
  if (!in.whole()) return std::nullopt;
  return out;
}

}  // namespace ration::compare
