// Stable: changes only with a new major version.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ration {

// One table of names beside each enumeration that a user can choose from. Keys, flags, help texts,
// documentation, error messages and shell completion all come from it:
//
//   enum class Colour { red, green };
//   inline constexpr NamedValue<Colour> kColours[] = {{Colour::red, "red", "Like blood."}, ...};
//   constexpr NameTable<Colour> name_table(Colour) { return {"colour", kColours}; }
//
// An enumerator without a line in its table does not compile.

// One line of a table.
template <class Enum>
struct NamedValue {
  Enum value;             // in the order of the enumeration
  std::string_view name;  // as users write it
  std::string_view help;  // one line
};

// The table of an enumeration.
template <class Enum>
struct NameTable {
  std::string_view what;                     // what is chosen, for messages: "clip"
  std::span<const NamedValue<Enum>> values;  // one for each enumerator
};

// An enumeration that has a table.
template <class Enum>
concept HasNames = requires(Enum value) {
  { name_table(value) } -> std::same_as<NameTable<Enum>>;
};

// A choice as texts, for help and documentation.
struct NameAndHelp {
  std::string name;  // as users write it
  std::string help;  // one line
};

// Throws InputError: "<where>: expected one of red, green<or_else>, got 'grene'; did you mean 'green'?"
[[noreturn]] void refuse_name(std::string_view where, std::span<const std::string_view> names,
                              std::string_view text, std::string_view or_else = "");
// "; did you mean 'green'?" or nothing, if no name is close.
std::string did_you_mean(std::string_view text, std::span<const std::string_view> names);

namespace detail {

// The compiler writes "(Colour)2" for a value that no enumerator has.
template <auto Value>
constexpr bool is_enumerator() {
  const std::string_view text = __PRETTY_FUNCTION__;
  return text[text.find("Value = ") + std::string_view("Value = ").size()] != '(';
}

// Every enumerator from 0 on has its line, in order.
template <class Enum>
constexpr bool is_complete() {
  constexpr std::span<const NamedValue<Enum>> values = name_table(Enum{}).values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (static_cast<std::size_t>(values[i].value) != i) return false;
  }
  return !is_enumerator<static_cast<Enum>(values.size())>();
}

}  // namespace detail

// The name of a value.
template <HasNames Enum>
constexpr std::string_view to_string(Enum value) {
  static_assert(detail::is_complete<Enum>(), "an enumerator has no line in its table of names");
  return name_table(value).values[static_cast<std::size_t>(value)].name;
}

// The value of a name; nothing if there is none.
template <HasNames Enum>
std::optional<Enum> find_named(std::string_view text) {
  for (const NamedValue<Enum>& one : name_table(Enum{}).values) {
    if (one.name == text) return one.value;
  }
  return std::nullopt;
}

// All values, in the order of the table.
template <HasNames Enum>
constexpr auto every() {
  std::array<Enum, name_table(Enum{}).values.size()> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = name_table(Enum{}).values[i].value;
  return values;
}

// Others, and then all names in the order of the table.
template <HasNames Enum>
std::vector<std::string_view> names_of(std::initializer_list<std::string_view> others = {}) {
  std::vector<std::string_view> names(others);
  for (const NamedValue<Enum>& one : name_table(Enum{}).values) names.push_back(one.name);
  return names;
}

// Throws InputError that lists the names and says which one is close.
template <HasNames Enum>
Enum named(std::string_view where, std::string_view text,
           std::initializer_list<std::string_view> others = {}) {
  if (const std::optional<Enum> found = find_named<Enum>(text)) return *found;
  refuse_name(where, names_of<Enum>(others), text);
}
// The same; the message begins with what is chosen.
template <HasNames Enum>
Enum named(std::string_view text) {
  return named<Enum>(name_table(Enum{}).what, text);
}

// A value of an enumeration that can be given as text: plan.method = "dpsgd" throws InputError if there is no
// such method.
template <HasNames Enum>
class Named {
 public:
  // It is that value.
  constexpr Named(Enum value) : value_(value) {}  // NOLINT
  // InputError if there is no such name.
  template <std::convertible_to<std::string_view> Text>
  Named(const Text& text) : value_(named<Enum>(text)) {}  // NOLINT

  // The value.
  constexpr operator Enum() const { return value_; }  // NOLINT
  // Its name.
  constexpr std::string_view name() const { return to_string(value_); }

  // The same value.
  friend constexpr bool operator==(const Named&, const Named&) = default;
  // The same value.
  friend constexpr bool operator==(const Named& a, Enum b) { return a.value_ == b; }

 private:
  Enum value_;
};

// The name of what is left open.
inline constexpr std::string_view kAuto = "auto";

// The same, or "auto": what the method or the rest of the plan suggests.
template <HasNames Enum>
class NamedOrAuto {
 public:
  // "auto".
  constexpr NamedOrAuto() = default;
  // That value.
  constexpr NamedOrAuto(Enum value) : value_(value) {}  // NOLINT
  // "auto" or a name; InputError if there is no such name.
  template <std::convertible_to<std::string_view> Text>
  NamedOrAuto(const Text& text) : value_(read(name_table(Enum{}).what, text)) {}  // NOLINT
  // The same; the message begins with `where`.
  static NamedOrAuto parsed(std::string_view where, std::string_view text) {
    NamedOrAuto out;
    out.value_ = read(where, text);
    return out;
  }

  // Whether it is left open.
  constexpr bool is_auto() const { return !value_; }
  // Not of "auto".
  constexpr Enum value() const { return value_.value(); }
  // "auto", or the value's name.
  constexpr std::string_view name() const { return value_ ? to_string(*value_) : kAuto; }
  // Closes what is open.
  constexpr void choose_if_auto(Enum usual) {
    if (!value_) value_ = usual;
  }

  // Both open, or the same value.
  friend constexpr bool operator==(const NamedOrAuto&, const NamedOrAuto&) = default;
  // That value, and not open.
  friend constexpr bool operator==(const NamedOrAuto& a, Enum b) { return a.value_ == b; }

 private:
  static std::optional<Enum> read(std::string_view where, std::string_view text) {
    if (text == kAuto) return std::nullopt;
    return named<Enum>(where, text, {kAuto});
  }

  std::optional<Enum> value_;
};

}  // namespace ration
