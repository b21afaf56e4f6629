// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "framework/graph/reader/onnx_reader.h"

namespace assay::reader {
namespace {

struct Location {
  std::string file;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Result<uint64_t> ParseNumber(const std::string& key, const std::string& text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop == end) return number;
  return InvalidArgument("external data has ", key, " '", text,
                         "', wanted a number of bytes");
}

Result<Location> ReadLocation(const onnx::TensorProto& proto) {
  Location location;
  for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() == "location") location.file = entry.value();
    if (entry.key() == "offset") {
      ASSAY_ASSIGN_OR_RETURN(location.offset,
                             ParseNumber(entry.key(), entry.value()));
    }
    if (entry.key() == "length") {
      ASSAY_ASSIGN_OR_RETURN(location.length,
                             ParseNumber(entry.key(), entry.value()));
    }
  }
  if (location.file.empty()) {
    return InvalidArgument("external data has no location");
  }
  return location;
}

/// The file, when it lies inside `directory` even after symbolic links.
Result<fs::path> Resolve(const fs::path& directory, const std::string& name) {
  if (directory.empty()) {
    return FailedPrecondition("external data '", name,
                              "' needs a directory, found a model in memory");
  }
  if (name.find('\0') != std::string::npos) {
    return InvalidArgument("external data has a location with a zero byte");
  }
  std::error_code error;
  const fs::path home = fs::canonical(directory, error);
  const fs::path file = fs::weakly_canonical(home / name, error);
  const auto parted = std::ranges::mismatch(home, file);
  if (error || parted.in1 != home.end() || fs::path(name).is_absolute()) {
    return InvalidArgument("external data '", name,
                           "' lies outside the model's directory");
  }
  return file;
}

}  // namespace

Result<Tensor> ReadExternal(const onnx::TensorProto& proto, DType type,
                            const Shape& shape, const External& external) {
  ASSAY_ASSIGN_OR_RETURN(const Location location, ReadLocation(proto));
  ASSAY_ASSIGN_OR_RETURN(const fs::path file,
                         Resolve(external.directory, location.file));
  const std::string where = StrCat("external data '", location.file, "'");
  // The claim is compared with the file before memory is taken for it.
  ASSAY_ASSIGN_OR_RETURN(Tensor claim, Tensor::Borrow(type, shape, nullptr));
  const auto needed = static_cast<uint64_t>(claim.byte_size());
  if (location.length.value_or(needed) != needed) {
    return InvalidArgument(where, " has length ", *location.length, ", ",
                           claim.Signature(), " needs ", needed);
  }
  const Result<uint64_t> size = FileSize(file);
  if (!size.ok()) return size.status().WithContext(where);
  if (location.offset > *size || needed > *size - location.offset) {
    return DataLoss(where, " has ", *size, " bytes, ", claim.Signature(),
                    " needs ", needed, " at offset ", location.offset);
  }
  if (needed > external.most_bytes) return claim;
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(type, shape));
  const Status status =
      ReadRange(file, location.offset, {tensor.mutable_data(), needed});
  if (!status.ok()) return status.WithContext(where);
  return tensor;
}

}  // namespace assay::reader
