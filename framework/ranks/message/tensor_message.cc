// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/message/tensor_message.h"

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "framework/core/text.h"

namespace assay::ranks {
namespace {

using Kind = TensorNotice::Kind;

constexpr int64_t kMark = 0x41535341595F5431;  // "ASSAY_T1"
// What MPI counts with.
constexpr int64_t kMostBytes = std::numeric_limits<int32_t>::max();

/// A notice as it goes.
struct Wire {
  int64_t mark = kMark;
  int64_t kind = 0;
  int64_t id = 0, version = 0;
  int64_t type = 0, elements = 0, bytes = 0;
};

Status Send(const Wire& wire, int to, Endpoint& endpoint) {
  if (to == endpoint.rank()) {
    return InvalidArgument("found the rank ", to,
                           " itself, wanted another one for a tensor");
  }
  return endpoint.Exchange(to, std::as_bytes(std::span(&wire, 1)), kNobody, {});
}

bool IsOfNumbers(DType type) {
  return type != DType::kUndefined && type != DType::kString;
}

int64_t BytesFor(DType type, int64_t elements) {
  constexpr int64_t kBitsOfByte = 8;
  return (elements * BitsOf(type) + kBitsOfByte - 1) / kBitsOfByte;
}

/// "tensor 7 from rank 1".
std::string NameOf(int64_t id, int from) {
  return StrCat("tensor ", id, " from rank ", from);
}

/// Of a push, where type, elements and bytes belong together.
Status CheckLength(const Wire& wire, int from) {
  const std::string name = NameOf(wire.id, from);
  const bool has_type = wire.type >= 0 && wire.type < kDTypeCount &&
                        IsOfNumbers(static_cast<DType>(wire.type));
  if (!has_type) {
    return DataLoss("found the type ", wire.type, " of ", name,
                    ", wanted one of numbers");
  }
  if (wire.elements < 0 || wire.elements > 8 * kMostBytes) {
    return DataLoss("found ", wire.elements, " elements of ", name,
                    ", wanted at least 0 and below 2^31 bytes of them");
  }
  const auto type = static_cast<DType>(wire.type);
  const int64_t bytes = BytesFor(type, wire.elements);
  if (wire.bytes == bytes && bytes <= kMostBytes) return OkStatus();
  return DataLoss("found ", wire.bytes, " bytes for ", wire.elements,
                  " elements of ", ToString(type), " of ", name, ", wanted ",
                  bytes, ", and below 2^31");
}

/// The tensor that was announced is the one that is wanted.
Status Fits(const TensorNotice& notice, const TensorKey& wanted,
            const Tensor& into) {
  const auto& [id, version] = notice.key;
  const std::string name = NameOf(id, notice.from);
  if (id != wanted.id) {
    return DataLoss("found ", name, ", wanted tensor ", wanted.id);
  }
  if (version < wanted.version) {
    return DataLoss("found version ", version, " of ", name,
                    ", wanted version ", wanted.version, " or later");
  }
  if (notice.type != into.dtype()) {
    return DataLoss("found ", ToString(notice.type), " in ", name, ", wanted ",
                    ToString(into.dtype()));
  }
  if (notice.elements != into.num_elements()) {
    return DataLoss("found ", notice.elements, " elements of ", name,
                    ", wanted ", into.num_elements());
  }
  return OkStatus();
}

}  // namespace

Status Push(const TensorKey& key, const Tensor& tensor, int to,
            Endpoint& endpoint) {
  if (!IsOfNumbers(tensor.dtype())) {
    return Unsupported(Reason::kDType, "found a tensor of ",
                       ToString(tensor.dtype()), ", wanted one of numbers");
  }
  if (tensor.byte_size() > kMostBytes) {
    return Unsupported(Reason::kShape, "found a tensor of ", tensor.byte_size(),
                       " bytes, wanted at most ", kMostBytes);
  }
  const Wire wire{.kind = static_cast<int64_t>(Kind::kPush),
                  .id = key.id,
                  .version = key.version,
                  .type = static_cast<int64_t>(tensor.dtype()),
                  .elements = tensor.num_elements(),
                  .bytes = tensor.byte_size()};
  ASSAY_RETURN_IF_ERROR(Send(wire, to, endpoint));
  return endpoint.Exchange(to, tensor.bytes(), kNobody, {});
}

Result<TensorNotice> ReceiveNotice(int from, Endpoint& endpoint) {
  Wire wire;
  const std::span<std::byte> in = std::as_writable_bytes(std::span(&wire, 1));
  if (from == kAnybody) {
    ASSAY_ASSIGN_OR_RETURN(from, endpoint.ReceiveAny(in));
  } else {
    ASSAY_RETURN_IF_ERROR(endpoint.Exchange(kNobody, {}, from, in));
  }
  const bool is_push = wire.kind == static_cast<int64_t>(Kind::kPush);
  const bool is_pull = wire.kind == static_cast<int64_t>(Kind::kPull);
  if (wire.mark != kMark || (!is_push && !is_pull)) {
    return DataLoss("found the mark ", wire.mark, " and the kind ", wire.kind,
                    " from rank ", from,
                    ", wanted the notice of a tensor: ", kMark, " and 0 or 1");
  }
  TensorNotice notice{.kind = is_push ? Kind::kPush : Kind::kPull,
                      .from = from,
                      .key = {wire.id, wire.version}};
  if (is_pull) return notice;
  ASSAY_RETURN_IF_ERROR(CheckLength(wire, from));
  notice.type = static_cast<DType>(wire.type);
  notice.elements = wire.elements;
  return notice;
}

Result<int64_t> TakePushed(const TensorNotice& notice, const TensorKey& wanted,
                           Tensor* into, Endpoint& endpoint) {
  const std::string name = NameOf(notice.key.id, notice.from);
  if (notice.kind != Kind::kPush) {
    return DataLoss("found a pull of ", name, ", wanted a push of tensor ",
                    wanted.id);
  }
  const Status fits = Fits(notice, wanted, *into);
  const auto bytes =
      static_cast<size_t>(BytesFor(notice.type, notice.elements));
  std::vector<std::byte> dropped(fits.ok() ? 0 : bytes);
  const std::span<std::byte> in =
      fits.ok() ? std::span(into->mutable_data(), bytes) : std::span(dropped);
  ASSAY_RETURN_IF_ERROR(
      endpoint.Exchange(kNobody, {}, notice.from, in).WithContext(name));
  ASSAY_RETURN_IF_ERROR(fits);
  return notice.key.version;
}

Result<int64_t> Pull(const TensorKey& wanted, int from, Tensor* into,
                     Endpoint& endpoint) {
  const Wire wire{.kind = static_cast<int64_t>(Kind::kPull),
                  .id = wanted.id,
                  .version = wanted.version};
  ASSAY_RETURN_IF_ERROR(Send(wire, from, endpoint));
  ASSAY_ASSIGN_OR_RETURN(const TensorNotice notice,
                         ReceiveNotice(from, endpoint));
  return TakePushed(notice, wanted, into, endpoint);
}

}  // namespace assay::ranks
