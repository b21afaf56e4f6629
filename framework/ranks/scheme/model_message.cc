// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/model_message.h"

#include <algorithm>

#include "framework/ranks/fields.h"

namespace assay::ranks {

void ModelMessage::Write(const Header& header,
                         std::span<const Tensor> tensors) {
  std::byte* to = RoomFor(tensors).data();
  PutFields(header, to);
  to += kFieldBytes<Header>;
  for (const Tensor& tensor : tensors) {
    to = std::ranges::copy(tensor.bytes(), to).out;
  }
}

std::span<std::byte> ModelMessage::RoomFor(std::span<const Tensor> tensors) {
  size_t size = kFieldBytes<Header>;
  for (const Tensor& tensor : tensors) size += tensor.bytes().size();
  bytes_.resize(size);
  return bytes_;
}

ModelMessage::Header ModelMessage::header() const {
  Header header;
  GetFields(bytes_.data(), &header);
  return header;
}

void ModelMessage::ReadInto(std::span<Tensor> tensors) const {
  const std::byte* from = bytes_.data() + kFieldBytes<Header>;
  for (Tensor& tensor : tensors) {
    std::copy_n(from, tensor.byte_size(), tensor.mutable_data());
    from += tensor.byte_size();
  }
}

}  // namespace assay::ranks
