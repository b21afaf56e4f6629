// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "framework/graph/reader/onnx_reader.h"

namespace assay::reader {
namespace {

/// An open file, closed at the end of its scope.
class OpenFile {
 public:
  explicit OpenFile(const fs::path& file)
      : descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// The size, when the file is open and regular.
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

}  // namespace

Result<uint64_t> FileSize(const fs::path& file) {
  return OpenFile(file).Size();
}

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

Status ReadRange(const fs::path& file, uint64_t offset,
                 std::span<std::byte> into) {
  const OpenFile open(file);
  ASSAY_RETURN_IF_ERROR(open.Size().status());
  return open.Read(offset, into);
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

}  // namespace assay::reader
