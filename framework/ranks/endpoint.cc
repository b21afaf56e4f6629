// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/endpoint.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace assay::ranks {
namespace {

/// minimum and maximum of IEEE 754-2019: -0 is below +0, and a NaN propagates.
template <class T>
T Extreme(T a, T b, bool is_least) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(a) || std::isnan(b)) {
      return std::numeric_limits<T>::quiet_NaN();
    }
    if (a == b) return std::signbit(a) == is_least ? a : b;
  }
  return (a < b) == is_least ? a : b;
}

/// A type whose overflow is defined.
template <class T>
struct Arithmetic : std::type_identity<T> {};
template <std::integral T>
struct Arithmetic<T> : std::make_unsigned<T> {};

template <class T>
T Combined(Reduction reduction, T a, T b) {
  using Number = typename Arithmetic<T>::type;
  switch (reduction) {
    case Reduction::kSum:
      return static_cast<T>(static_cast<Number>(a) + static_cast<Number>(b));
    case Reduction::kProduct:
      return static_cast<T>(static_cast<Number>(a) * static_cast<Number>(b));
    case Reduction::kMin:
      return Extreme(a, b, /*is_least=*/true);
    case Reduction::kMax:
      break;
  }
  return Extreme(a, b, /*is_least=*/false);
}

template <class T>
Status CombineAs(Reduction reduction, std::span<const std::byte> came,
                 std::span<std::byte> own) {
  for (size_t at = 0; at < own.size(); at += sizeof(T)) {
    T a;
    T b;
    std::memcpy(&a, own.data() + at, sizeof(T));
    std::memcpy(&b, came.data() + at, sizeof(T));
    const T both = Combined(reduction, a, b);
    std::memcpy(own.data() + at, &both, sizeof(T));
  }
  return OkStatus();
}

}  // namespace

Result<std::span<std::byte>> BytesOf(Part part, Tensor* tensor) {
  constexpr int kBitsOfByte = 8;
  const int bits = BitsOf(tensor->dtype());
  if (bits == 0 || bits % kBitsOfByte != 0) {
    return Unsupported(Reason::kDType, "found the type ",
                       ToString(tensor->dtype()),
                       ", wanted one of whole bytes");
  }
  if (part.begin < 0 || part.count < 0 ||
      part.begin > tensor->num_elements() - part.count) {
    return InvalidArgument("found the elements from ", part.begin, " to ",
                           part.begin + part.count, ", wanted some of the ",
                           tensor->num_elements(), " of the buffer");
  }
  const int64_t size = bits / kBitsOfByte;
  return std::span(tensor->mutable_data(),
                   static_cast<size_t>(tensor->num_elements() * size))
      .subspan(static_cast<size_t>(part.begin * size),
               static_cast<size_t>(part.count * size));
}

Status Combine(Reduction reduction, std::span<const std::byte> came, Part part,
               Tensor* tensor) {
  ASSAY_ASSIGN_OR_RETURN(const std::span<std::byte> own, BytesOf(part, tensor));
  if (came.size() != own.size()) {
    return InvalidArgument("found ", came.size(), " bytes, wanted ",
                           own.size());
  }
  switch (tensor->dtype()) {
    case DType::kFloat32:
      return CombineAs<float>(reduction, came, own);
    case DType::kFloat64:
      return CombineAs<double>(reduction, came, own);
    case DType::kInt32:
      return CombineAs<int32_t>(reduction, came, own);
    case DType::kInt64:
      return CombineAs<int64_t>(reduction, came, own);
    default:
      return Unsupported(Reason::kDType, "found the type ",
                         ToString(tensor->dtype()),
                         ", wanted float32, float64, int32 or int64");
  }
}

Status RunSchedule(const Schedule& schedule, Reduction reduction,
                   Endpoint& endpoint, Tensor* buffer) {
  // The part that comes in may overlap the part that goes out.
  std::vector<std::byte> came;
  for (const Step& step : schedule) {
    const Part out_part = step.to == kNobody ? Part() : step.out;
    const Part in_part = step.from == kNobody ? Part() : step.in;
    ASSAY_ASSIGN_OR_RETURN(const auto out, BytesOf(out_part, buffer));
    ASSAY_ASSIGN_OR_RETURN(const auto in, BytesOf(in_part, buffer));
    came.resize(in.size());
    ASSAY_RETURN_IF_ERROR(endpoint.Exchange(step.to, out, step.from, came));
    if (step.combines) {
      ASSAY_RETURN_IF_ERROR(Combine(reduction, came, in_part, buffer));
    } else {
      std::ranges::copy(came, in.begin());
    }
  }
  return OkStatus();
}

Status RunCollective(const Collective& what, Reduction reduction,
                     Endpoint& endpoint, Tensor* buffer) {
  ASSAY_ASSIGN_OR_RETURN(const Schedule schedule,
                         ScheduleOf(what, endpoint.rank()));
  if (what.ranks != endpoint.size()) {
    return InvalidArgument("found a collective of ", what.ranks,
                           " ranks, wanted one of ", endpoint.size());
  }
  if (buffer->num_elements() != ElementsOf(what)) {
    return InvalidArgument("found a buffer of ", buffer->num_elements(),
                           " elements for ", ToString(what), ", wanted ",
                           ElementsOf(what));
  }
  return RunSchedule(schedule, reduction, endpoint, buffer);
}

OwnParts OwnPartsOf(const Collective& what, int rank) {
  const int64_t block = what.count;
  const Part one = {0, block};
  const Part all = {0, what.ranks * block};
  const Part own = {rank * block, block};
  const bool is_root = rank == what.root;
  switch (what.operation) {
    case Operation::kBarrier:
      break;
    case Operation::kBroadcast:
      return {is_root ? one : Part(), one};
    case Operation::kReduce:
      return {one, is_root ? one : Part()};
    case Operation::kAllReduce:
      return {one, one};
    case Operation::kGather:
      return {own, is_root ? all : Part()};
    case Operation::kScatter:
      return {is_root ? all : Part(), own};
    case Operation::kReduceScatter:
      return {all, own};
    case Operation::kAllGather:
      return {own, all};
    case Operation::kAllToAll:
      return {all, {all.count, all.count}};
  }
  return {};
}

Result<CollectiveCall> OwnCallOf(const Collective& what, Reduction reduction,
                                 int rank, Tensor* buffer) {
  if (HasRoot(what.operation) && (what.root < 0 || what.root >= what.ranks)) {
    return InvalidArgument("found the root ", what.root,
                           ", wanted a rank from 0 to ", what.ranks - 1);
  }
  if (buffer->num_elements() != ElementsOf(what)) {
    return InvalidArgument("found a buffer of ", buffer->num_elements(),
                           " elements for ", ToString(what.operation), " of ",
                           what.count, " over ", what.ranks, " ranks, wanted ",
                           ElementsOf(what));
  }
  const OwnParts parts = OwnPartsOf(what, rank);
  CollectiveCall call{.operation = what.operation,
                      .reduction = reduction,
                      .type = buffer->dtype(),
                      .count = what.count,
                      .root = what.root,
                      .in = {},
                      .out = {}};
  ASSAY_ASSIGN_OR_RETURN(call.in, BytesOf(parts.in, buffer));
  ASSAY_ASSIGN_OR_RETURN(call.out, BytesOf(parts.out, buffer));
  return call;
}

Status RunOwn(const Collective& what, Reduction reduction, Endpoint& endpoint,
              Tensor* buffer) {
  if (what.ranks != endpoint.size()) {
    return InvalidArgument("found a collective of ", what.ranks,
                           " ranks, wanted one of ", endpoint.size());
  }
  ASSAY_ASSIGN_OR_RETURN(const CollectiveCall call,
                         OwnCallOf(what, reduction, endpoint.rank(), buffer));
  return endpoint.Collect(call);
}

}  // namespace assay::ranks
