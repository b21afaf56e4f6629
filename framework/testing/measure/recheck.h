// SPDX-License-Identifier: Apache-2.0
//
// Recheck: a second look at a pass. The network that passed is run again, and
// each run may show that the first one proved nothing:
//
//     with an input changed, whose change must show in the outputs: an output
//       that stays the same in every bit was not computed from it: suspect;
//       a message about what comes after names that input;
//     with the first inputs once more, into the caller's memory, which holds
//       garbage between guards: an output that is stale, written elsewhere or
//       right only once fails, and so does a write over an input or a guard.
//
//   const Rechecked again = Recheck(*network, set, first, limit, plan);
//   if (again.verdict.outcome != record::Outcome::kPass) Report(again.verdict);
//
// The corpus names the inputs that must show, so that a verdict needs no other
// backend.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/field.h"

namespace assay::measure {

/// A tensor between guards of known bytes. A write before or behind it shows,
/// and so does a write into it where none was allowed. Each side has 64 bytes
/// of guard, enough for a vector store too far. Tensor and guards are shared
/// with the process of the backend where it has one.
class GuardedTensor {
 public:
  /// A tensor of bytes that no kernel writes by chance, for an output to be
  /// written into. Invalid argument for strings, which have no own bytes.
  static Result<GuardedTensor> Filled(DType type, const Shape& shape);

  /// A copy of `right`, for an input that nobody may write into.
  static Result<GuardedTensor> CopyOf(const Tensor& right);

  /// In the guarded memory, which lives as long as this object.
  const Tensor& tensor() const { return tensor_; }

  /// "3 bytes behind its end" where the guards differ from what they were;
  /// empty when they are whole.
  std::string Damage() const;

 private:
  std::shared_ptr<std::byte> memory_;  // guard, elements, guard
  int64_t size_ = 0;                   // of the elements
  Tensor tensor_;
};

struct RecheckPlan {
  /// Indices of inputs whose change must show in some output.
  record::IndexList sensitive;
  /// By their indices, what stands in the place of those that are settings: any
  /// other value may be none that they can have.
  std::map<int64_t, Tensor> settings = {};
  /// True when two runs must agree in every bit.
  bool deterministic = false;
};

struct Rechecked {
  Judgement verdict;
  int64_t distinct_results = 1;  // of two runs with the same inputs
};

/// `first` is the observation that passed, `limit` the one it passed under. The
/// pass stands if no run shows a fault. Never throws.
Rechecked Recheck(Network& network, const cases::DataSet& set,
                  const Observation& first, const cases::Limit& limit,
                  const RecheckPlan& plan);

/// A copy in which every element has another value: numbers get another sign
/// and magnitude, integers another lowest bit. Nullopt where that is not
/// defined: no elements, elements narrower than a byte, strings.
std::optional<Tensor> Changed(const Tensor& tensor);

/// True when two values agree in kind, type, shape and every bit.
bool SameBits(const Value& a, const Value& b);

}  // namespace assay::measure
