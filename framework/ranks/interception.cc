// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/interception.h"

#include <zlib.h>

#include "framework/core/text.h"

namespace assay::ranks {
namespace {

uint32_t SumOf(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void Keep(int peer, std::span<const std::byte> bytes,
          std::vector<MessageSum>* sums) {
  if (sums->size() == SummedEndpoint::kMost) return;
  sums->push_back({peer, SumOf(bytes), bytes.size()});
}

/// The `number`th message, from 1, between a rank and `peer`. Null where it was
/// not kept.
const MessageSum* Find(const std::vector<MessageSum>& sums, int peer,
                       int64_t number) {
  for (const MessageSum& sum : sums) {
    if (sum.peer == peer && --number == 0) return &sum;
  }
  return nullptr;
}

}  // namespace

Status WatchedEndpoint::Exchange(int to, std::span<const std::byte> out,
                                 int from, std::span<std::byte> in) {
  ASSAY_RETURN_IF_ERROR(inner_.Exchange(to, out, from, in));
  if (to != kNobody && to != rank()) {
    sent_.bytes += static_cast<int64_t>(out.size());
    sent_.messages += 1;
  }
  return OkStatus();
}

Status SummedEndpoint::Exchange(int to, std::span<const std::byte> out,
                                int from, std::span<std::byte> in) {
  if (to != kNobody) Keep(to, out, &sums_.sent);
  ASSAY_RETURN_IF_ERROR(inner_.Exchange(to, out, from, in));
  if (from != kNobody) Keep(from, in, &sums_.received);
  return OkStatus();
}

Result<int> SummedEndpoint::ReceiveAny(std::span<std::byte> in) {
  ASSAY_ASSIGN_OR_RETURN(const int from, inner_.ReceiveAny(in));
  Keep(from, in, &sums_.received);
  return from;
}

std::string CorruptMessage(std::span<const MessageSums> ranks) {
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<int64_t> numbers(ranks.size());  // by who sent
    for (const MessageSum& found : ranks[rank].received) {
      const auto from = static_cast<size_t>(found.peer);
      if (from >= ranks.size()) continue;
      const int64_t number = ++numbers[from];
      const MessageSum* const wanted =
          Find(ranks[from].sent, static_cast<int>(rank), number);
      if (wanted == nullptr ||
          (wanted->sum == found.sum && wanted->bytes == found.bytes)) {
        continue;
      }
      return StrCat("rank ", rank, " received message ", number, " from rank ",
                    from, " other than it was sent: found ", found.bytes,
                    " bytes with the checksum ", found.sum, ", wanted ",
                    wanted->bytes, " with ", wanted->sum);
    }
  }
  return "";
}

}  // namespace assay::ranks
