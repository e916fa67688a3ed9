// Images: IDX if the first byte is even (two bytes for the length of the labels' file, the labels' file, that
// of the images), CIFAR-10 if it is odd.
#include "data/images.h"

#include <fmt/format.h>

#include "support/tables.h"

using namespace ration;

namespace {

// A schema for images of this size, as far as there can be one.
void encode(data::Images images, const data::ReadOptions& options) {
  const data::Schema schema = data::parse_schema(
      fmt::format("format = \"images\"\nlabel = \"y\"\nimage = {{ channels = {}, height = {}, width = {} }}\n"
                  "columns = [{{ name = \"y\", type = \"category\", categories = [0, 1, 2, 3] }}]\n",
                  images.channels, images.height, images.width));
  fuzz::check_table(data::image_table(std::move(images), schema, options.on_bad_row), schema, options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Folder folder;
  fuzz::Draw draw(data, size);
  const bool cifar = draw.flag();
  const data::ReadOptions options = fuzz::draw_read_options(draw);
  if (cifar) {
    const std::string file = folder.write("batch.bin", draw.rest());
    fuzz::accepts_or_refuses([&] { encode(data::read_cifar10({file}), options); });
    return 0;
  }
  const std::string labels = folder.write("labels", draw.take(draw.word(2)));
  const std::string images = folder.write("images", draw.rest());
  fuzz::accepts_or_refuses([&] { encode(data::read_idx(images, labels), options); });
  return 0;
}
