#include "support/binary_files.h"

#include <zlib.h>

#include <stdexcept>

namespace ration::testing {
namespace {

std::string deflated(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib");
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

std::uint16_t short_size(std::size_t size) {
  return static_cast<std::uint16_t>(size);
}
std::uint32_t long_size(std::size_t size) {
  return static_cast<std::uint32_t>(size);
}

// What local header and directory have in common: version, flags, method, time, date, checksum, sizes, name
// length.
std::string common_fields(const ZipEntry& entry, const std::string& packed) {
  const auto* bytes = reinterpret_cast<const Bytef*>(entry.bytes.data());
  const auto checksum =
      static_cast<std::uint32_t>(crc32_z(crc32_z(0, nullptr, 0), bytes, entry.bytes.size()));
  return little_endian<std::uint16_t>(20) + little_endian<std::uint16_t>(0) +
         little_endian<std::uint16_t>(entry.deflated ? 8 : 0) + little_endian<std::uint32_t>(0) +
         little_endian(checksum) + little_endian(long_size(packed.size())) +
         little_endian(long_size(entry.bytes.size())) + little_endian(short_size(entry.name.size())) +
         little_endian<std::uint16_t>(0);
}

}  // namespace

std::string big_endian(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((value >> shift) & 0xFF);
  return out;
}

std::string npy(const std::string& dictionary, const std::string& bytes) {
  return std::string("\x93NUMPY\x01", 7) + '\0' + little_endian(short_size(dictionary.size())) + dictionary +
         bytes;
}

std::string npy_header(const std::string& type, const std::string& shape, const std::string& fortran) {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

std::string zip(const std::vector<ZipEntry>& entries) {
  std::string files;
  std::string directory;
  for (const ZipEntry& entry : entries) {
    const std::string packed = entry.deflated ? deflated(entry.bytes) : entry.bytes;
    const std::string common = common_fields(entry, packed);
    directory += "PK\x01\x02" + little_endian<std::uint16_t>(20) + common + std::string(10, '\0') +
                 little_endian(long_size(files.size())) + entry.name;
    files += "PK\x03\x04" + common + entry.name + packed;
  }
  const auto count = short_size(entries.size());
  return files + directory + std::string("PK\x05\x06\0\0\0\0", 8) + little_endian(count) +
         little_endian(count) + little_endian(long_size(directory.size())) +
         little_endian(long_size(files.size())) + std::string(2, '\0');
}

std::string idx_images(std::uint32_t count, std::uint32_t height, std::uint32_t width,
                       const std::string& pixels, std::uint32_t magic) {
  return big_endian(magic) + big_endian(count) + big_endian(height) + big_endian(width) + pixels;
}

std::string idx_labels(std::uint32_t count, const std::string& labels, std::uint32_t magic) {
  return big_endian(magic) + big_endian(count) + labels;
}

}  // namespace ration::testing
