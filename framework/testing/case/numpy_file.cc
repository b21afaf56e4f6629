// SPDX-License-Identifier: Apache-2.0
//
// The layouts are those of NumPy's NEP 1 and of PKWARE's APPNOTE, of which an
// .npz uses entries that are stored or deflated.

#include "framework/testing/case/numpy_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;
using Bytes = std::span<const std::byte>;

struct TypeRow {
  std::string_view descr;  // behind the byte order
  DType type;
};

constexpr auto kTypes = std::to_array<TypeRow>({
    {"f2", DType::kFloat16},
    {"f4", DType::kFloat32},
    {"f8", DType::kFloat64},
    {"i1", DType::kInt8},
    {"i2", DType::kInt16},
    {"i4", DType::kInt32},
    {"i8", DType::kInt64},
    {"u1", DType::kUint8},
    {"u2", DType::kUint16},
    {"u4", DType::kUint32},
    {"u8", DType::kUint64},
    {"b1", DType::kBool},
    {"c8", DType::kComplex64},
    {"c16", DType::kComplex128},
});

auto FindType(std::string_view type) {
  return std::ranges::find(kTypes, type, &TypeRow::descr);
}

/// A little-endian number of so many bytes.
uint64_t NumberAt(Bytes bytes, size_t at, size_t size) {
  uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, size);
  return number;
}

/// The number of bytes of an element: "<f4" has 4.
std::optional<uint64_t> SizeOf(std::string_view descr) {
  const auto size = file::ParseInt(descr.substr(
      std::min<size_t>(descr.find_first_of("0123456789"), descr.size())));
  if (!size.has_value() || *size < 1 || *size > 64) return std::nullopt;
  return static_cast<uint64_t>(*size);
}

/// The text behind "'key':" in the header of an array, a Python dictionary, up
/// to the end of its value.
std::string_view Member(std::string_view header, std::string_view key) {
  const size_t at = header.find(StrCat("'", key, "':"));
  if (at == header.npos) return {};
  std::string_view text = header.substr(at + key.size() + 3);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (text.starts_with('\'')) {
    text.remove_prefix(1);
    return text.substr(0, text.find('\''));
  }
  if (text.starts_with('(')) return text.substr(1, text.find(')') - 1);
  return text.substr(0, text.find_first_of(",}"));
}

/// The elements of an array in column-major order, in row-major order.
std::vector<std::byte> RowMajor(const std::vector<std::byte>& data,
                                const Shape& shape, size_t size) {
  std::vector<std::byte> rows(data.size());
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()));
  for (size_t to = 0; to < data.size(); to += size) {
    size_t from = 0;
    size_t stride = size;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      from += static_cast<size_t>(index[axis]) * stride;
      stride *= static_cast<size_t>(shape.dims()[axis]);
    }
    std::memcpy(rows.data() + to, data.data() + from, size);
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < shape.dims()[axis]) break;
      index[axis] = 0;
    }
  }
  return rows;
}

Result<Shape> ShapeIn(std::string_view text) {
  std::vector<int64_t> extents;
  while (!text.empty()) {
    std::string_view word = CutFront(&text, ",");
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    if (word.empty()) continue;
    const auto extent = file::ParseInt(word);
    if (!extent.has_value() || *extent < 0) {
      return DataLoss("found the extent '", word, "', wanted a number");
    }
    extents.push_back(*extent);
  }
  return Shape(extents);
}

Result<NumpyArray> ParseArray(Bytes bytes) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  constexpr size_t kFixed =
      10;  // with a length of 2 bytes; of 4 from version 2
  if (bytes.size() < kFixed + 2 ||
      std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return DataLoss("found no NumPy array");
  }
  const size_t wide = NumberAt(bytes, 6, 1) >= 2 ? 2 : 0;
  const size_t begin = kFixed + wide;
  const uint64_t length = NumberAt(bytes, 8, 2 + wide);
  if (length > bytes.size() - begin) return DataLoss("its header is torn");
  const std::string_view header(
      reinterpret_cast<const char*>(bytes.data()) + begin, length);
  NumpyArray array;
  array.descr = Member(header, "descr");
  if (array.descr.find('O') != std::string::npos || array.descr.empty()) {
    return InvalidArgument("found pickled objects, wanted numbers");
  }
  const auto size = SizeOf(array.descr);
  const std::string_view type = std::string_view(array.descr).substr(1);
  if (array.descr.starts_with('>') || !size.has_value() ||
      (FindType(type) == kTypes.end() && !type.starts_with('V'))) {
    return InvalidArgument("found '", array.descr,
                           "', wanted little-endian numbers or booleans");
  }
  ASSAY_ASSIGN_OR_RETURN(array.shape, ShapeIn(Member(header, "shape")));
  bytes = bytes.subspan(begin + length);
  ASSAY_ASSIGN_OR_RETURN(const int64_t elements, array.shape.NumElements());
  if (bytes.size() % *size != 0 ||
      bytes.size() / *size != static_cast<uint64_t>(elements)) {
    return DataLoss("has ", bytes.size(), " bytes of data, wanted those of '",
                    array.descr, "' ", array.shape.ToString());
  }
  array.data.assign(bytes.begin(), bytes.end());
  if (Member(header, "fortran_order") == "True") {
    array.data = RowMajor(array.data, array.shape, *size);
  }
  return array;
}

/// An entry of an archive, its bytes as they are stored.
struct Entry {
  std::string name;
  uint64_t method = 0;
  uint32_t crc = 0;
  uint64_t size = 0;
  Bytes stored;
};

/// The entries that the directory at the archive's end lists.
Result<std::vector<Entry>> EntriesOf(Bytes zip) {
  constexpr uint64_t kNoNumber = 0xFFFFFFFF;  // it stands in a wider field
  constexpr std::string_view kEnd = "PK\x05\x06";
  constexpr std::string_view kListed = "PK\x01\x02";
  constexpr size_t kEndSize = 22, kListedSize = 46, kLocalSize = 30;
  const std::string_view text(reinterpret_cast<const char*>(zip.data()),
                              zip.size());
  const size_t end = text.rfind(kEnd);
  const Status torn = DataLoss("is no zip archive, or is torn");
  if (end == text.npos || zip.size() - end < kEndSize) return torn;
  uint64_t at = NumberAt(zip, end + 16, 4);
  std::vector<Entry> entries(NumberAt(zip, end + 10, 2));
  for (Entry& entry : entries) {
    if (at == kNoNumber) {
      return InvalidArgument("has 4 GiB or more, wanted less");
    }
    if (at + kListedSize > end || text.substr(at, 4) != kListed) return torn;
    const uint64_t stored = NumberAt(zip, at + 20, 4);
    const uint64_t name = NumberAt(zip, at + 28, 2);
    const uint64_t local = NumberAt(zip, at + 42, 4);
    entry.method = NumberAt(zip, at + 10, 2);
    entry.crc = static_cast<uint32_t>(NumberAt(zip, at + 16, 4));
    entry.size = NumberAt(zip, at + 24, 4);
    if (at + kListedSize + name > end || local + kLocalSize > end) return torn;
    entry.name = text.substr(at + kListedSize, name);
    const uint64_t begin = local + kLocalSize + NumberAt(zip, local + 26, 2) +
                           NumberAt(zip, local + 28, 2);
    if (stored == kNoNumber || entry.size == kNoNumber) {
      return InvalidArgument("has 4 GiB or more, wanted less");
    }
    if (begin > end || stored > end - begin) return torn;
    entry.stored = zip.subspan(begin, stored);
    at += kListedSize + name + NumberAt(zip, at + 30, 2) +
          NumberAt(zip, at + 32, 2);
  }
  return entries;
}

/// The bytes of an entry as they were before they were packed.
Result<std::vector<std::byte>> Unpacked(const Entry& entry) {
  constexpr uint64_t kStored = 0, kDeflated = 8;
  std::vector<std::byte> bytes;
  if (entry.method == kStored) {
    bytes.assign(entry.stored.begin(), entry.stored.end());
  } else if (entry.method == kDeflated) {
    // No packing makes more of a byte, so a size that lies takes no memory.
    constexpr uint64_t kMostOfOne = 1032;
    if (entry.size / kMostOfOne > entry.stored.size()) {
      return DataLoss(entry.name, " is torn");
    }
    bytes.resize(entry.size);
    z_stream stream = {};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
      return ResourceExhausted("zlib has no memory");
    }
    stream.next_in =
        reinterpret_cast<Bytef*>(const_cast<std::byte*>(entry.stored.data()));
    stream.avail_in = static_cast<uInt>(entry.stored.size());
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    const int ended = inflate(&stream, Z_FINISH);
    const bool whole = ended == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    if (!whole) return DataLoss(entry.name, " is torn");
  } else {
    return InvalidArgument(entry.name, " is packed by method ", entry.method,
                           ", wanted it stored or deflated");
  }
  if (bytes.size() != entry.size ||
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) !=
          entry.crc) {
    return DataLoss(entry.name, " is torn: its checksum is another");
  }
  return bytes;
}

Result<std::vector<NumpyArray>> ParseArchive(Bytes zip, const fs::path& file) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Entry> entries, EntriesOf(zip));
  std::vector<NumpyArray> arrays;
  for (const Entry& entry : entries) {
    const fs::path name = entry.name;
    if (name.extension() != ".npy") continue;
    ASSAY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, Unpacked(entry));
    Result<NumpyArray> array = ParseArray(bytes);
    if (!array.ok()) return array.status().WithContext(entry.name);
    array->name = entry.name.substr(0, entry.name.size() - 4);
    array->where = StrCat(file.string(), "[", array->name, "]");
    arrays.push_back(*std::move(array));
  }
  return arrays;
}

}  // namespace

Result<Tensor> NumpyArray::As(DType wanted) const {
  const auto row = FindType(std::string_view(descr).substr(1));
  if (row != kTypes.end()) return Tensor::FromBytes(row->type, shape, data);
  if (SizeOf(descr) == static_cast<uint64_t>(BitsOf(wanted) / 8)) {
    return Tensor::FromBytes(wanted, shape, data);
  }
  return InvalidArgument(where, ": found '", descr,
                         "', wanted numbers or booleans");
}

Result<std::vector<NumpyArray>> NumpyArray::Parts() const {
  if (shape.rank() == 0) {
    return InvalidArgument(where,
                           ": found one number, wanted an array of the "
                           "values");
  }
  std::vector<NumpyArray> parts(static_cast<size_t>(shape[0]));
  const size_t size = parts.empty() ? 0 : data.size() / parts.size();
  for (size_t i = 0; i < parts.size(); ++i) {
    NumpyArray& part = parts[i];
    part.where = StrCat(where, "[", i, "]");
    part.descr = descr;
    part.shape = Shape(std::vector<int64_t>(shape.begin() + 1, shape.end()));
    const auto begin = data.begin() + static_cast<std::ptrdiff_t>(i * size);
    part.data.assign(begin, begin + static_cast<std::ptrdiff_t>(size));
  }
  return parts;
}

Result<std::vector<NumpyArray>> ReadNumpy(const fs::path& file) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  const Bytes bytes = std::as_bytes(std::span(text));
  if (file.extension() == ".npz") {
    auto arrays = ParseArchive(bytes, file);
    if (!arrays.ok()) return arrays.status().WithContext(file.string());
    return arrays;
  }
  Result<NumpyArray> array = ParseArray(bytes);
  if (!array.ok()) return array.status().WithContext(file.string());
  array->where = file.string();
  std::vector<NumpyArray> arrays;
  arrays.push_back(*std::move(array));
  return arrays;
}

}  // namespace assay::cases
