// SPDX-License-Identifier: Apache-2.0
//
// Push and Pull: a tensor on its way between two ranks, with its number and its version.
// Who receives it checks that it is the one that it wants.
//
//   ASSAY_RETURN_IF_ERROR(
//       Push({.id = 7, .version = 3}, gradient, /*to=*/0, mine));
//   ASSAY_ASSIGN_OR_RETURN(
//       const int64_t version,
//       Pull({.id = 7, .version = 4}, /*from=*/0, &weights, mine));
//
// A notice is seven int64 in the order of the machine: a mark (0x41535341595F5431), 0 of a
// push and 1 of a pull, the number, the version, and of a push the type, the elements and
// the bytes that follow in a message of their own.

#pragma once

#include <cstdint>

#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/endpoint.h"

namespace assay::ranks {

/// Which tensor. Of one that is wanted it is the least version.
struct TensorKey {
  int64_t id = 0;
  int64_t version = 0;
};

/// What comes before a tensor, or asks for one.
struct TensorNotice {
  enum class Kind : uint8_t { kPush, kPull };

  Kind kind = Kind::kPush;
  int from = kNobody;
  TensorKey key;
  // Of a push.
  DType type = DType::kUndefined;
  int64_t elements = 0;
};

/// Sends a tensor to another rank. Unsupported for strings and from 2^31 bytes on; invalid
/// argument for the rank itself.
Status Push(const TensorKey& key, const Tensor& tensor, int to,
            Endpoint& endpoint);

/// From a rank or kAnybody. Behind the notice of a push comes TakePushed, and a pull is
/// answered with Push to who asked. Data loss for a message that is no notice, or whose
/// type, elements and bytes do not belong together.
Result<TensorNotice> ReceiveNotice(int from, Endpoint& endpoint);

/// Receives what the notice tells of, and returns its version. Data loss for another
/// tensor, an older version, another type or number of elements than wanted, and where
/// other bytes follow than the notice says; only then may the tensor hold others than it
/// did.
Result<int64_t> TakePushed(const TensorNotice& notice, const TensorKey& wanted,
                           Tensor* into, Endpoint& endpoint);

/// Asks another rank for a tensor and takes its answer, as ReceiveNotice and TakePushed do.
Result<int64_t> Pull(const TensorKey& wanted, int from, Tensor* into,
                     Endpoint& endpoint);

}  // namespace assay::ranks
