// Lines of a text and its label, as bags of words, ids of words or ids of bytes.
#include "support/tables.h"

using namespace ration;

namespace {

data::Schema schema_of(const char* text) {
  return data::parse_schema(std::string("format = \"text\"\nlabel = \"y\"\n") + text +
                            "columns = [{ name = \"y\", type = \"category\", categories = [0, 1] }]\n");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  static const data::Schema schemas[] = {
      schema_of("text = { vocabulary = 64 }\n"),
      schema_of("text = { features = \"ids\", vocabulary = 50, length = 7 }\n"),
      schema_of("text = { tokens = \"bytes\", features = \"ids\", length = 5, label_first = true }\n")};
  fuzz::Draw draw(data, size);
  const data::Schema& schema = schemas[draw.below(std::size(schemas))];
  const data::ReadOptions options = fuzz::draw_read_options(draw);
  fuzz::read_and_check(folder.write("rows.txt", draw.rest()), schema, options);
  return 0;
}
