// SPDX-License-Identifier: Apache-2.0

#include "framework/train/format/cifar.h"

#include <string>
#include <vector>

#include "framework/train/format/byte_source.h"
#include "framework/train/format/images.h"

namespace assay::train {
namespace {

constexpr int64_t kCifarPixels = 3 * 32 * 32;

}  // namespace

Result<Dataset> ReadCifar(const std::filesystem::path& folder,
                          const CifarForm& form,
                          std::span<const std::string_view> files) {
  const int64_t record = form.label_bytes + kCifarPixels;
  std::string pixels;
  std::vector<int64_t> labels;
  for (const std::string_view name : files) {
    ASSAY_ASSIGN_OR_RETURN(ByteSource source, ByteSource::Open(folder / name));
    ASSAY_ASSIGN_OR_RETURN(const std::string bytes, source.TakeAll());
    if (bytes.empty() || std::ssize(bytes) % record != 0) {
      return DataLoss(source.path().string(), ": found ", bytes.size(),
                      " bytes, wanted records of ", record);
    }
    for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(record)) {
      const auto label = at + static_cast<size_t>(form.label_bytes) - 1;
      labels.push_back(static_cast<unsigned char>(bytes[label]));
      pixels.append(bytes, label + 1, static_cast<size_t>(kCifarPixels));
    }
  }
  return ImagesOf(folder, pixels, labels, {3, 32, 32}, form.classes);
}

}  // namespace assay::train
