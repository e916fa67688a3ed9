#include "data/zip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "data/complaint.h"
#include "ration/base/error.h"

namespace ration::data {
namespace {

struct Member {
  std::string name;
  unsigned method;
  std::uint32_t checksum;
  std::uint32_t packed_size;
  std::uint32_t size;
  std::uint32_t header_at;
};

constexpr unsigned kStored = 0;
constexpr unsigned kDeflated = 8;

// Reads little-endian numbers out of the archive and refuses to leave it.
class Archive {
 public:
  Archive(std::span<const char> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  std::span<const char> part(std::size_t at, std::size_t length) const {
    if (at > bytes_.size() || length > bytes_.size() - at)
      refuse(file_, "the zip archive is truncated or corrupt");
    return bytes_.subspan(at, length);
  }
  std::uint32_t number(std::size_t at, std::size_t width) const {
    std::uint32_t value = 0;
    const auto bytes = part(at, width);
    for (std::size_t i = 0; i < width; ++i)
      value |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return value;
  }
  std::string text(std::size_t at, std::size_t length) const {
    const auto bytes = part(at, length);
    return {bytes.begin(), bytes.end()};
  }
  std::size_t size() const { return bytes_.size(); }
  std::string_view view() const { return {bytes_.data(), bytes_.size()}; }
  const std::string& file() const { return file_; }

 private:
  std::span<const char> bytes_;
  const std::string& file_;
};

// The directory's end record is the last thing in the file, but for a comment.
std::vector<Member> read_directory(const Archive& archive) {
  constexpr std::string_view kEndRecord{"PK\x05\x06", 4};
  const std::size_t end = archive.view().rfind(kEndRecord);
  if (end == std::string_view::npos)
    refuse(archive.file(), "expected a zip archive with its directory at the end; is it truncated?");
  std::vector<Member> members;
  std::size_t at = archive.number(end + 16, 4);
  for (std::uint32_t left = archive.number(end + 10, 2); left > 0; --left) {
    if (archive.text(at, 4) != "PK\x01\x02") refuse(archive.file(), "the zip directory is corrupt");
    const std::uint32_t name_length = archive.number(at + 28, 2);
    members.push_back({archive.text(at + 46, name_length), archive.number(at + 10, 2),
                       archive.number(at + 16, 4), archive.number(at + 20, 4), archive.number(at + 24, 4),
                       archive.number(at + 42, 4)});
    at += 46 + name_length + archive.number(at + 30, 2) + archive.number(at + 32, 2);
  }
  return members;
}

const Member& find_member(const std::vector<Member>& members, const std::string& name,
                          const std::string& file) {
  std::string present;
  for (const Member& member : members) {
    if (member.name == name) return member;
    present += (present.empty() ? "" : ", ") + in_quotes(member.name);
  }
  refuse(file, fmt::format("no array {} in the archive; it has {}", in_quotes(name),
                           present.empty() ? "none" : present));
}

std::span<const char> packed_bytes(const Archive& archive, const Member& member) {
  constexpr std::uint32_t kInZip64 = 0xFFFFFFFF;
  if (member.size == kInZip64 || member.packed_size == kInZip64 || member.header_at == kInZip64) {
    refuse(archive.file(), fmt::format("{} has 4 GiB or more; save it as .npy", in_quotes(member.name)));
  }
  const std::size_t at = member.header_at;
  if (archive.text(at, 4) != "PK\x03\x04")
    refuse(archive.file(), fmt::format("the header of {} is corrupt", in_quotes(member.name)));
  const std::size_t data = at + 30 + archive.number(at + 26, 2) + archive.number(at + 28, 2);
  return archive.part(data, member.packed_size);
}

// Memory grows with what comes out, so that a lying size costs nothing.
std::vector<char> inflate_all(std::span<const char> packed, std::size_t size, const std::string& file) {
  constexpr std::size_t kBlock = 1u << 16;
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    throw InternalError("cannot set up the decompressor: out of memory");
  // zlib's interface takes no const pointer, but does not write there.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::vector<char> out;
  int status = Z_OK;
  while (status == Z_OK && out.size() <= size) {
    const std::size_t before = out.size();
    out.resize(before + kBlock);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = kBlock;
    status = inflate(&stream, Z_NO_FLUSH);
    out.resize(before + kBlock - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || out.size() != size) refuse(file, "a deflated array is corrupt");
  return out;
}

}  // namespace

std::vector<char> zip_member(std::span<const char> bytes, const std::string& name, const std::string& file) {
  const Archive archive(bytes, file);
  const std::vector<Member> members = read_directory(archive);
  const Member& member = find_member(members, name, file);
  const std::span<const char> packed = packed_bytes(archive, member);
  std::vector<char> out;
  if (member.method == kDeflated) {
    out = inflate_all(packed, member.size, file);
  } else if (member.method == kStored) {
    out.assign(packed.begin(), packed.end());
  } else {
    refuse(file, fmt::format("{} is packed by method {}; expected stored or deflated", in_quotes(name),
                             member.method));
  }
  const auto* data = reinterpret_cast<const Bytef*>(out.data());
  if (crc32_z(crc32_z(0, nullptr, 0), data, out.size()) != member.checksum) {
    refuse(file, fmt::format("the checksum of {} is wrong", in_quotes(name)));
  }
  return out;
}

}  // namespace ration::data
