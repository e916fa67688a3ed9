// Row encoding: a schema and a delimited file, with a line of dashes between them.
#include "support/tables.h"

using namespace ration;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  constexpr std::string_view kBetween = "\n---\n";
  fuzz::Draw draw(data, size);
  const data::ReadOptions options = fuzz::draw_read_options(draw);
  const std::string_view text = draw.rest();
  const std::size_t middle = text.find(kBetween);
  if (middle == text.npos) return 0;
  fuzz::accepts_or_refuses([&] {
    const data::Schema schema = data::parse_schema(text.substr(0, middle), "schema.toml");
    // A few bytes may announce any number of columns; what they cost is their author's business.
    if (schema.image || schema.text || schema.indexed_features) return;
    const std::string rows = folder.write("rows.csv", text.substr(middle + kBetween.size()));
    const data::Table table = data::read_csv(rows, schema, options);
    fuzz::check_table(table, schema, options);
  });
  return 0;
}
