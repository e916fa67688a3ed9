// Drafts of schemas: what is drafted can be read.
#include "data/schema_draft.h"
#include "ration/data/schema.h"
#include "support/fuzz.h"

using namespace ration;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  const std::string rows = folder.write("rows.csv", fuzz::as_text(data, size));
  std::string draft;
  const bool drafted = fuzz::accepts_or_refuses([&] {
    const std::vector<std::string> names = data::column_names(rows);
    draft = data::draft_schema(rows, names.empty() ? "" : names.back(),
                               data::first_line_names_columns(rows) ? std::vector<std::string>{} : names);
  });
  if (!drafted) return 0;
  try {
    data::parse_schema(draft);
  } catch (const std::exception& error) {
    fuzz::expect(false, std::string("a draft that cannot be read: ") + error.what() + "\n" + draft);
  }
  return 0;
}
