// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <optional>
#include <system_error>

#include "framework/graph/reader/onnx_reader.h"

namespace assay::reader {
namespace {

class OpenFile {
 public:
  explicit OpenFile(const fs::path& file)
      : descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  Result<uint64_t> Size() const {
    if (descriptor_ < 0) return CannotOpen();
    struct stat facts = {};
    if (::fstat(descriptor_, &facts) != 0) return CannotOpen();
    if (!S_ISREG(facts.st_mode)) {
      return InvalidArgument("is not a regular file");
    }
    return static_cast<uint64_t>(facts.st_size);
  }

  Status Read(uint64_t offset, std::span<std::byte> into) const {
    // Linux reads at most 2 GiB less a page at a time.
    constexpr size_t kAtOnce = size_t{1} << 30;
    while (!into.empty()) {
      const ssize_t got =
          ::pread(descriptor_, into.data(), std::min(into.size(), kAtOnce),
                  static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return DataLoss("cannot be read: ", std::strerror(errno));
      if (got == 0) return DataLoss("ends at byte ", offset);
      offset += static_cast<uint64_t>(got);
      into = into.subspan(static_cast<size_t>(got));
    }
    return OkStatus();
  }

 private:
  static Status CannotOpen() {
    if (errno == ENOENT) return NotFound("does not exist");
    return FailedPrecondition("cannot be opened: ", std::strerror(errno));
  }

  int descriptor_;
};

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

Result<std::vector<std::byte>> ReadFile(const fs::path& file) {
  const OpenFile open(file);
  ASSAY_ASSIGN_OR_RETURN(const uint64_t size, open.Size());
  if (size > INT_MAX) {
    return ResourceExhausted("has ", size, " bytes, protobuf reads at most ",
                             INT_MAX, ": store tensors as external data");
  }
  std::vector<std::byte> bytes(size);
  ASSAY_RETURN_IF_ERROR(open.Read(0, bytes));
  return bytes;
}

Status ParseInto(std::span<const std::byte> bytes,
                 google::protobuf::MessageLite& message) {
  if (bytes.size() > INT_MAX) {
    return ResourceExhausted("has ", bytes.size(),
                             " bytes, protobuf reads at most ", INT_MAX);
  }
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return OkStatus();
  }
  return DataLoss("is malformed, truncated or nested too deep: ", bytes.size(),
                  " bytes are no ", message.GetTypeName());
}

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
  const OpenFile open(file);
  const Result<uint64_t> size = open.Size();
  if (!size.ok()) return size.status().WithContext(where);
  if (location.offset > *size || needed > *size - location.offset) {
    return DataLoss(where, " has ", *size, " bytes, ", claim.Signature(),
                    " needs ", needed, " at offset ", location.offset);
  }
  if (needed > external.most_bytes) return claim;
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(type, shape));
  const Status status =
      open.Read(location.offset, {tensor.mutable_data(), needed});
  if (!status.ok()) return status.WithContext(where);
  return tensor;
}

}  // namespace assay::reader
