// Sparse rows of LIBSVM. The first two bytes choose the schema and how bad rows are treated.
#include "support/tables.h"

using namespace ration;

namespace {

constexpr const char* kClasses = R"(
format = "libsvm"
label = "y"
features = { count = 9, low = 0, high = 9 }
columns = [{ name = "y", type = "category", categories = [-1, 1] }]
)";
constexpr const char* kNumbers = R"(
format = "libsvm"
max_row_norm = 0.5
out_of_bounds = "clamp"
label = "y"
features = { count = 5000, low = -1e-300, high = 1e300 }
columns = [{ name = "y", type = "number", low = -5, high = 5 }]
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  static const data::Schema classes = data::parse_schema(kClasses);
  static const data::Schema numbers = data::parse_schema(kNumbers);
  fuzz::Draw draw(data, size);
  const data::Schema& schema = draw.flag() ? numbers : classes;
  const data::ReadOptions options = fuzz::draw_read_options(draw);
  fuzz::read_and_check(folder.write("rows.svm", draw.rest()), schema, options);
  return 0;
}
