// SPDX-License-Identifier: Apache-2.0

#include "framework/train/format/idx.h"

#include <limits>

#include "framework/core/text.h"
#include "framework/train/format/byte_source.h"
#include "framework/train/format/images.h"

namespace assay::train {
namespace {

namespace fs = std::filesystem;

constexpr unsigned char kUnsignedByte = 0x08;
constexpr unsigned kMostRank = 4;

/// The most significant byte first.
uint32_t NumberOf(std::string_view bytes) {
  uint32_t number = 0;
  for (const char byte : bytes) {
    number = (number << 8U) | static_cast<unsigned char>(byte);
  }
  return number;
}

/// NAME or NAME.gz.
Result<fs::path> Find(const fs::path& folder, const std::string& name) {
  for (const char* const end : {"", ".gz"}) {
    fs::path path = folder / (name + end);
    if (fs::exists(path)) return path;
  }
  return NotFound("found no ", name, " and no ", name, ".gz in ",
                  folder.string());
}

}  // namespace

Result<Idx> ReadIdx(const fs::path& path) {
  ASSAY_ASSIGN_OR_RETURN(ByteSource source, ByteSource::Open(path));
  ASSAY_ASSIGN_OR_RETURN(const std::string magic,
                         source.Take(4, "the magic number"));
  const auto type = static_cast<unsigned char>(magic[2]);
  const auto rank = static_cast<unsigned char>(magic[3]);
  if (magic[0] != 0 || magic[1] != 0 || type != kUnsignedByte || rank == 0 ||
      rank > kMostRank) {
    return DataLoss(path.string(), ": found the magic number ", NumberOf(magic),
                    ", wanted ", NumberOf({"\0\0\x08\x01", 4}), " to ",
                    NumberOf({"\0\0\x08\x04", 4}),
                    ", which is unsigned bytes of rank 1 to 4");
  }
  Idx idx;
  uint64_t n = 1;
  for (unsigned d = 0; d < rank; ++d) {
    ASSAY_ASSIGN_OR_RETURN(const std::string extent,
                           source.Take(4, "an extent"));
    idx.dims.push_back(NumberOf(extent));
    const uint64_t dim = idx.dims.back();
    if (dim != 0 && n > std::numeric_limits<int64_t>::max() / dim) {
      return DataLoss(path.string(), ": found the extents ", Joined(idx.dims),
                      ", more elements than a file can have");
    }
    n *= dim;
  }
  ASSAY_ASSIGN_OR_RETURN(
      idx.elements,
      source.Take(n, StrCat("elements [", Joined(idx.dims, ","), "]")));
  ASSAY_RETURN_IF_ERROR(source.End());
  return idx;
}

Result<Dataset> ReadMnist(const fs::path& folder, std::string_view part) {
  ASSAY_ASSIGN_OR_RETURN(const fs::path image_path,
                         Find(folder, StrCat(part, "-images-idx3-ubyte")));
  ASSAY_ASSIGN_OR_RETURN(const fs::path label_path,
                         Find(folder, StrCat(part, "-labels-idx1-ubyte")));
  ASSAY_ASSIGN_OR_RETURN(const Idx images, ReadIdx(image_path));
  ASSAY_ASSIGN_OR_RETURN(const Idx labels, ReadIdx(label_path));
  if (images.dims.size() != 3 || images.dims[1] != 28 || images.dims[2] != 28) {
    return DataLoss(image_path.string(), ": found images [",
                    Joined(images.dims, ","), "], wanted [N,28,28]");
  }
  if (labels.dims.size() != 1 || labels.dims[0] != images.dims[0]) {
    return DataLoss(label_path.string(), ": found labels [",
                    Joined(labels.dims, ","), "], wanted [", images.dims[0],
                    "], as there are images");
  }
  std::vector<int64_t> classes;
  for (const char label : labels.elements) {
    classes.push_back(static_cast<unsigned char>(label));
  }
  return ImagesOf(label_path, images.elements, classes, {1, 28, 28}, 10);
}

}  // namespace assay::train
