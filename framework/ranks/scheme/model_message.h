// SPDX-License-Identifier: Apache-2.0
//
// ModelMessage: all tensors of a model in one message, after a header with
// their version and step.
//
//   ModelMessage message;
//   message.Write({.version = 3, .clock = 7}, tensors);
//   ASSAY_RETURN_IF_ERROR(
//       mine.Exchange(/*to=*/0, message.bytes(), kNobody, {}));

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "framework/core/tensor.h"

namespace assay::ranks {

class ModelMessage {
 public:
  struct Header {
    int64_t version = 0;  // averages or updates that the parameters have seen
    int64_t clock = 0;    // steps that the asking rank has done
  };

  friend constexpr void EachField(Header& header, const auto& visit) {
    visit(header.version);
    visit(header.clock);
  }

  /// Writes the header, then the bytes of the tensors in their order.
  void Write(const Header& header, std::span<const Tensor> tensors);
  /// Makes room to receive a message of tensors of these sizes.
  std::span<std::byte> RoomFor(std::span<const Tensor> tensors);

  std::span<const std::byte> bytes() const { return bytes_; }
  Header header() const;
  /// Copies the tensors out, whose sizes are those that were written.
  void ReadInto(std::span<Tensor> tensors) const;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace assay::ranks
