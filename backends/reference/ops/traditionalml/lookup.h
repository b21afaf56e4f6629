// SPDX-License-Identifier: Apache-2.0
//
// Lookup: where a key stands in a list of keys. The operators of ai.onnx.ml
// with a vocabulary, categories or a map from keys to values use it.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/reference/scalar/codec.h"
#include "framework/core/tensor.h"

namespace assay::reference {

/// The elements of a list, as a tensor of rank 1.
Tensor TensorOf(const std::vector<int64_t>& elements);
Tensor TensorOf(const std::vector<float>& elements);
Tensor TensorOf(const std::vector<std::string>& elements);

/// True when the elements are floating-point numbers, traced ones included
/// (tape/trace.h).
bool HoldsFloats(const Tensor& tensor);

/// Strings, integers, or floats by their value: 0 is -0, and NaN is one key
/// whatever its bits. The last of equal keys counts.
class Lookup {
 public:
  /// Strings, or integers or floats of at least 8 bits.
  explicit Lookup(const Tensor& keys);

  /// For each element of x the position of its key, -1 where there is none. x
  /// holds strings if the keys are strings, integers if they are integers, and
  /// floats if they are floats.
  Scratch<int64_t> Find(const Tensor& x) const;

 private:
  /// Notes that traced numbers were compared with the keys next to them.
  void NoteNear(const Tensor& x) const;

  std::vector<double> floats_;  // the keys that are numbers, sorted
  std::unordered_map<std::string, int64_t> strings_;
  std::unordered_map<uint64_t, int64_t> numbers_;
};

}  // namespace assay::reference
