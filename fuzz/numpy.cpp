// Arrays of NumPy: .npy if the first byte is even, .npz if it is odd.
#include "support/tables.h"

using namespace ration;

namespace {

constexpr const char* kSchema = R"(
label = "y"
columns = [
  { name = "a", type = "number", low = 0, high = 10 },
  { name = "y", type = "category", categories = [0, 1] },
]
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  static const data::Schema schema = data::parse_schema(kSchema);
  fuzz::Draw draw(data, size);
  const std::string name = draw.flag() ? "rows.npz" : "rows.npy";
  const data::ReadOptions options = fuzz::draw_read_options(draw);
  fuzz::read_and_check(folder.write(name, draw.rest()), schema, options);
  return 0;
}
