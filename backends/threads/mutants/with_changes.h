// SPDX-License-Identifier: Apache-2.0
//
// Collectives whose input or output is changed.
//
//   constexpr auto zero = [](Rank&, const CollectiveCall&,
//                            std::span<std::byte> in) {
//     std::ranges::fill(in, std::byte{0});
//   };
//   const Mutant wrong = {.name = "nothing_added",
//                         .collect = OfReductions<WithInput<zero>>};

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "backends/threads/mutants/mutant.h"

namespace assay::threads {

inline bool IsReduction(const CollectiveCall& call) {
  return call.operation == Operation::kReduce ||
         call.operation == Operation::kAllReduce ||
         call.operation == Operation::kReduceScatter;
}

/// Right for all others.
template <auto collect>
Status OfReductions(Rank& rank, const CollectiveCall& call) {
  return IsReduction(call) ? collect(rank, call) : rank.right.Collect(call);
}
template <Operation operation, auto collect>
Status Of(Rank& rank, const CollectiveCall& call) {
  return call.operation == operation ? collect(rank, call)
                                     : rank.right.Collect(call);
}

/// `change` has the input in memory of its own.
template <auto change>
Status WithInput(Rank& rank, const CollectiveCall& call) {
  std::vector<std::byte> in(call.in.begin(), call.in.end());
  change(rank, call, std::span(in));
  CollectiveCall other = call;
  other.in = in;
  return rank.right.Collect(other);
}

/// `change` has the output as it is right.
template <auto change>
Status WithOutput(Rank& rank, const CollectiveCall& call) {
  ASSAY_RETURN_IF_ERROR(rank.right.Collect(call));
  change(rank, call, call.out);
  return OkStatus();
}

/// Changes each element of a float32, float64, int32 or int64.
template <class T>
void EachAs(std::span<std::byte> bytes, const auto& change) {
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T element;
    std::memcpy(&element, bytes.data() + i, sizeof(T));
    element = change(element);
    std::memcpy(bytes.data() + i, &element, sizeof(T));
  }
}
void Each(DType type, std::span<std::byte> bytes, const auto& change) {
  switch (type) {
    case DType::kFloat32:
      return EachAs<float>(bytes, change);
    case DType::kFloat64:
      return EachAs<double>(bytes, change);
    case DType::kInt32:
      return EachAs<int32_t>(bytes, change);
    default:
      return EachAs<int64_t>(bytes, change);
  }
}

/// The bytes of a block of the call.
inline size_t BlockOf(const CollectiveCall& call) {
  return static_cast<size_t>(call.count) *
         static_cast<size_t>(BitsOf(call.type)) / 8;
}
inline size_t WidthOf(const CollectiveCall& call) {
  return static_cast<size_t>(BitsOf(call.type)) / 8;
}

}  // namespace assay::threads
