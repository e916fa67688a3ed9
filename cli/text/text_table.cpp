#include "text/text_table.h"

#include <algorithm>

namespace ration::cli {
namespace {

std::string pad(const std::string& text, std::size_t width, TextTable::Align align) {
  const std::string space(width > text.size() ? width - text.size() : 0, ' ');
  return align == TextTable::Align::left ? text + space : space + text;
}

std::string without_trailing_space(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void TextTable::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = columns_[c].title.size();
    for (const auto& row : rows_) width = std::max(width, row[c].size());
    widths.push_back(width);
  }
  return widths;
}

std::string TextTable::render() const {
  const std::vector<std::size_t> width = widths();
  const auto line = [&](const auto& cell_of) {
    std::string text;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) text += "  ";
      text += pad(cell_of(c), width[c], columns_[c].align);
    }
    return without_trailing_space(std::move(text)) + "\n";
  };
  std::string text = line([&](std::size_t c) { return columns_[c].title; });
  text += line([&](std::size_t c) {
    const bool is_ragged = c + 1 == columns_.size() && columns_[c].align == Align::left;
    return std::string(is_ragged ? columns_[c].title.size() : width[c], '-');
  });
  for (const auto& row : rows_) text += line([&](std::size_t c) { return row[c]; });
  return text;
}

}  // namespace ration::cli
