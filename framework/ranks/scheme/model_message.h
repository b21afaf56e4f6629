// SPDX-License-Identifier: Apache-2.0
//
// ModelMessage: the tensors of a model on their way to one rank, behind a header that
// says of which step they are.
//
//   ModelMessage message;
//   message.Write({.version = 3, .clock = 7}, tensors);
//   ASSAY_RETURN_IF_ERROR(mine.Exchange(/*to=*/0, message.bytes(), kNobody, {}));

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
    int64_t version =
        0;              // changes by other ranks that the parameters have seen
    int64_t clock = 0;  // steps that the rank has done which asks
  };

  /// The header, and the bytes of the tensors in their order.
  void Write(const Header& header, std::span<const Tensor> tensors);
  /// Room for such a message of tensors as these, to receive it into.
  std::span<std::byte> RoomFor(std::span<const Tensor> tensors);

  std::span<const std::byte> bytes() const { return bytes_; }
  Header header() const;
  /// Into tensors as those that were written.
  void ReadInto(std::span<Tensor> tensors) const;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace assay::ranks
