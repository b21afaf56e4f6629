// SPDX-License-Identifier: Apache-2.0
//
// Guarded: memory for a library's output between two guards, which nobody may
// write into.
//
//   Guarded out(/*bytes=*/12);
//   ASSAY_RETURN_IF_ERROR(neighbors->Exchange(in, out.bytes()));
//   if (!out.is_whole()) {
//     return DataLoss("the library wrote beside its output");
//   }

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace assay::distributed {

class Guarded {
 public:
  explicit Guarded(size_t bytes);

  std::span<std::byte> bytes();
  /// True while nobody has written into the guards.
  bool is_whole() const;

 private:
  std::vector<std::byte> all_;
};

}  // namespace assay::distributed
