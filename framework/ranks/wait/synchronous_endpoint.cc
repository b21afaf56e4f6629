// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/wait/synchronous_endpoint.h"

namespace assay::ranks {

Result<std::unique_ptr<SynchronousEndpoint>> SynchronousEndpoint::Of(
    Endpoint& inner, std::unique_ptr<Endpoint> own) {
  ASSAY_ASSIGN_OR_RETURN(auto acks, inner.Split(0, inner.rank()));
  return std::unique_ptr<SynchronousEndpoint>(
      new SynchronousEndpoint(inner, std::move(own), std::move(acks)));
}

Status SynchronousEndpoint::Acknowledge(int from) {
  return acks_->Exchange(from, {}, kNobody, {});
}

Status SynchronousEndpoint::AwaitAcknowledgement(int to) {
  return acks_->Exchange(kNobody, {}, to, {});
}

Status SynchronousEndpoint::Exchange(int to, std::span<const std::byte> out,
                                     int from, std::span<std::byte> in) {
  ASSAY_RETURN_IF_ERROR(inner_.Exchange(to, out, from, in));
  if (from != kNobody) ASSAY_RETURN_IF_ERROR(Acknowledge(from));
  return to == kNobody ? OkStatus() : AwaitAcknowledgement(to);
}

Result<int> SynchronousEndpoint::ReceiveAny(std::span<std::byte> in) {
  ASSAY_ASSIGN_OR_RETURN(const int sender, inner_.ReceiveAny(in));
  ASSAY_RETURN_IF_ERROR(Acknowledge(sender));
  return sender;
}

Result<std::unique_ptr<Endpoint>> SynchronousEndpoint::Split(int color,
                                                             int key) {
  ASSAY_ASSIGN_OR_RETURN(auto part, inner_.Split(color, key));
  Endpoint& inner = *part;
  ASSAY_ASSIGN_OR_RETURN(auto made, Of(inner, std::move(part)));
  return std::unique_ptr<Endpoint>(std::move(made));
}

}  // namespace assay::ranks
