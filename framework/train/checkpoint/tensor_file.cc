// SPDX-License-Identifier: Apache-2.0

#include "framework/train/checkpoint/tensor_file.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "framework/file/file.h"

namespace assay::train {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little,
              "elements are written as they are in memory");

constexpr size_t kSizeBytes = sizeof(uint64_t);
constexpr char kNotes[] = "__metadata__";

struct TypeName {
  DType type;
  std::string_view name;
};
constexpr TypeName kTypes[] = {
    {DType::kFloat32, "F32"}, {DType::kFloat64, "F64"}, {DType::kInt64, "I64"}};

std::string_view Chars(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Parts {
  Json header;
  std::string_view elements;
};

Result<Parts> PartsOf(std::string_view text) {
  if (text.size() < kSizeBytes) {
    return DataLoss("found ", text.size(),
                    " bytes, wanted the 8 of the header's size first");
  }
  uint64_t size = 0;
  std::memcpy(&size, text.data(), kSizeBytes);
  text.remove_prefix(kSizeBytes);
  if (size > text.size()) {
    return DataLoss("found a header of ", size, " bytes, wanted at most the ",
                    text.size(), " behind its size");
  }
  Parts parts{Json::parse(text.substr(0, size), nullptr,
                          /*allow_exceptions=*/false),
              text.substr(size)};
  if (!parts.header.is_object()) {
    return DataLoss("found a header that is no JSON object");
  }
  return parts;
}

struct Entry {
  DType type = DType::kFloat32;
  std::vector<int64_t> dims;
  uint64_t begin = 0, end = 0;
};

/// Numbers from 0, of that many; nothing for anything else.
std::optional<std::vector<int64_t>> Counts(const Json& entry, const char* name,
                                           std::optional<size_t> n) {
  const auto found = entry.find(name);
  if (found == entry.end() || !found->is_array()) return std::nullopt;
  if (n.has_value() && found->size() != *n) return std::nullopt;
  std::vector<int64_t> counts;
  for (const Json& count : *found) {
    if (!count.is_number_unsigned()) return std::nullopt;
    counts.push_back(count.get<int64_t>());
    if (counts.back() < 0) return std::nullopt;
  }
  return counts;
}

Result<Entry> EntryOf(const Json& json) {
  if (!json.is_object()) return DataLoss("is no JSON object");
  const Json type = json.value("dtype", Json());
  const auto* const known = std::ranges::find_if(kTypes, [&](const auto& t) {
    return type.is_string() && type.get<std::string>() == t.name;
  });
  if (known == std::end(kTypes)) {
    return DataLoss("has the dtype ", type.dump(),
                    ", wanted \"F32\", \"F64\" or \"I64\"");
  }
  const auto dims = Counts(json, "shape", std::nullopt);
  if (!dims.has_value()) return DataLoss("has no shape");
  const auto offsets = Counts(json, "data_offsets", 2);
  if (!offsets.has_value()) return DataLoss("has no two data_offsets");
  return Entry{known->type, *dims, static_cast<uint64_t>((*offsets)[0]),
               static_cast<uint64_t>((*offsets)[1])};
}

/// The elements that an entry claims, where they are there.
Result<Tensor> TensorOf(const Entry& entry, std::string_view elements) {
  if (entry.begin > entry.end || entry.end > elements.size()) {
    return DataLoss("claims the bytes ", entry.begin, " to ", entry.end,
                    ", and the file has ", elements.size());
  }
  // Elements are multiplied only as far as the bytes go.
  const auto width = static_cast<uint64_t>(BitsOf(entry.type) / 8);
  const uint64_t have = (entry.end - entry.begin) / width;
  uint64_t left = have;
  uint64_t n = 1;
  const bool is_empty = std::ranges::count(entry.dims, 0) > 0;
  for (const int64_t dim : entry.dims) {
    if (is_empty) break;
    left /= static_cast<uint64_t>(dim);
    n *= static_cast<uint64_t>(dim);
    if (left == 0) break;
  }
  if (is_empty) n = 0;
  if (n != have || n * width != entry.end - entry.begin) {
    return DataLoss("has the shape [", Joined(entry.dims, ","), "] and ",
                    entry.end - entry.begin, " bytes of ",
                    ToString(entry.type));
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::Allocate(entry.type, Shape(entry.dims)));
  std::memcpy(tensor.mutable_data(), elements.data() + entry.begin,
              entry.end - entry.begin);
  return tensor;
}

Status ReadNotes(const Json& header, TensorFile* file) {
  const auto notes = header.find(kNotes);
  if (notes == header.end()) return OkStatus();
  if (!notes->is_object()) return DataLoss(kNotes, " is no JSON object");
  for (const auto& [name, note] : notes->items()) {
    if (!note.is_string()) {
      return DataLoss(kNotes, " has ", name, ", which is no text");
    }
    file->notes[name] = note.get<std::string>();
  }
  return OkStatus();
}

Result<TensorFile> Parsed(std::string_view text) {
  ASSAY_ASSIGN_OR_RETURN(const Parts parts, PartsOf(text));
  TensorFile file;
  ASSAY_RETURN_IF_ERROR(ReadNotes(parts.header, &file));
  std::vector<std::pair<uint64_t, uint64_t>> places;
  for (const auto& [name, json] : parts.header.items()) {
    if (name == kNotes) continue;
    const auto entry = EntryOf(json);
    if (!entry.ok()) return entry.status().WithContext("tensor '" + name + "'");
    auto tensor = TensorOf(*entry, parts.elements);
    if (!tensor.ok()) {
      return tensor.status().WithContext("tensor '" + name + "'");
    }
    places.emplace_back(entry->begin, entry->end);
    file.tensors.emplace_back(name, *std::move(tensor));
  }
  std::ranges::sort(places);
  uint64_t at = 0;
  for (const auto& [begin, end] : places) {
    if (begin != at) {
      return DataLoss("found a tensor at byte ", begin,
                      " of the elements, wanted the next one at ", at);
    }
    at = end;
  }
  if (at != parts.elements.size()) {
    return DataLoss("found ", parts.elements.size(),
                    " bytes of elements, wanted ", at);
  }
  return file;
}

}  // namespace

const Tensor* TensorFile::Find(std::string_view name) const {
  const auto found =
      std::ranges::find(tensors, name, &std::pair<std::string, Tensor>::first);
  return found == tensors.end() ? nullptr : &found->second;
}

Result<std::string> TensorFileBytes(const TensorFile& file, std::string room) {
  Json header = Json::object();
  if (!file.notes.empty()) header[kNotes] = file.notes;
  size_t elements = 0;
  for (const auto& [name, tensor] : file.tensors) {
    const auto* const type =
        std::ranges::find(kTypes, tensor.dtype(), &TypeName::type);
    if (type == std::end(kTypes)) {
      return Unsupported(Reason::kDType, "found the tensor '", name,
                         "' of type ", ToString(tensor.dtype()),
                         ", wanted float32, float64 or int64");
    }
    const size_t begin = elements;
    elements += tensor.bytes().size();
    const auto dims = tensor.shape().dims();
    header[name] = {{"dtype", type->name},
                    {"shape", std::vector<int64_t>(dims.begin(), dims.end())},
                    {"data_offsets", {begin, elements}}};
  }
  std::string text = header.dump();
  // The elements begin at a multiple of eight, as the format advises.
  text.resize((text.size() + kSizeBytes - 1) / kSizeBytes * kSizeBytes, ' ');
  const uint64_t size = text.size();
  std::string bytes = std::move(room);
  bytes.clear();
  bytes.reserve(kSizeBytes + text.size() + elements);
  bytes.append(reinterpret_cast<const char*>(&size), kSizeBytes);
  bytes += text;
  for (const auto& named : file.tensors) bytes += Chars(named.second.bytes());
  return bytes;
}

Status WriteTensorFile(const std::filesystem::path& path,
                       const TensorFile& file) {
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, TensorFileBytes(file));
  return file::WriteFile(path, bytes);
}

Result<TensorFile> ReadTensorFile(const std::filesystem::path& path) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(path));
  auto file = Parsed(text);
  if (!file.ok()) return file.status().WithContext(path.string());
  return file;
}

}  // namespace assay::train
