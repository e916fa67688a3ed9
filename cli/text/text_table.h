#pragma once

#include <string>
#include <vector>

namespace ration::cli {

// Text in aligned columns, two spaces apart, under a ruled header. Numbers go to the right, words to the
// left.
class TextTable {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // One cell per column; missing cells are empty. The last column is never padded, so it may be long.
  void add_row(std::vector<std::string> cells);
  std::string render() const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace ration::cli
