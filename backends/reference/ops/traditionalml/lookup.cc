// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/ops/traditionalml/lookup.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {
namespace {

// Bits that are equal where the numbers are.
Scratch<uint64_t> Codes(const Tensor& tensor) {
  Scratch<uint64_t> codes;
  codes.reserve(static_cast<size_t>(tensor.num_elements()));
  if (!HoldsFloats(tensor)) {
    const Loaded<int64_t> integers(tensor);
    codes.assign(integers.data(), integers.data() + integers.size());
    return codes;
  }
  const Loaded<double> floats(tensor);
  for (int64_t i = 0; i < floats.size(); ++i) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    // Adding 0 makes -0 a 0.
    codes.push_back(
        std::bit_cast<uint64_t>(floats[i] != floats[i] ? nan : floats[i] + 0));
  }
  return codes;
}

template <class Key>
int64_t PositionOf(const std::unordered_map<Key, int64_t>& positions,
                   const Key& key) {
  const auto found = positions.find(key);
  return found == positions.end() ? -1 : found->second;
}

}  // namespace

bool HoldsFloats(const Tensor& tensor) {
  return IsFloatingPoint(tensor.dtype()) || tensor.dtype() == kDTypeOf<Var>;
}

Tensor TensorOf(const std::vector<int64_t>& elements) {
  return *Tensor::Of<int64_t>({std::ssize(elements)}, elements);
}

Tensor TensorOf(const std::vector<float>& elements) {
  return *Tensor::Of<float>({std::ssize(elements)}, elements);
}

Tensor TensorOf(const std::vector<std::string>& elements) {
  return *Tensor::FromStrings({std::ssize(elements)}, elements);
}

Lookup::Lookup(const Tensor& keys) {
  if (HoldsFloats(keys)) {
    const Loaded<double> floats(keys);
    floats_.assign(floats.data(), floats.data() + floats.size());
    std::erase_if(floats_, [](double key) { return std::isnan(key); });
    std::ranges::sort(floats_);
  }
  int64_t at = 0;
  if (keys.dtype() == DType::kString) {
    for (const std::string& key : keys.strings()) strings_[key] = at++;
  } else {
    for (const uint64_t code : Codes(keys)) numbers_[code] = at++;
  }
}

void Lookup::NoteNear(const Tensor& x) const {
  const Loaded<Var> vars(x);
  for (int64_t i = 0; i < vars.size(); ++i) {
    const auto above = std::ranges::lower_bound(floats_, Value(vars[i]));
    const auto from = above == floats_.begin() ? above : above - 1;
    const auto to = above + std::min<int64_t>(2, floats_.end() - above);
    for (auto key = from; key != to; ++key) {
      static_cast<void>(Equal(vars[i], Var(*key)));
    }
  }
}

Scratch<int64_t> Lookup::Find(const Tensor& x) const {
  if (x.dtype() == kDTypeOf<Var>) NoteNear(x);
  Scratch<int64_t> found;
  found.reserve(static_cast<size_t>(x.num_elements()));
  if (x.dtype() == DType::kString) {
    for (const std::string& key : x.strings()) {
      found.push_back(PositionOf(strings_, key));
    }
  } else {
    for (const uint64_t code : Codes(x)) {
      found.push_back(PositionOf(numbers_, code));
    }
  }
  return found;
}

}  // namespace assay::reference
