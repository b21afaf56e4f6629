// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/tape/packed_vars.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "backends/reference/tape/tape.h"

namespace assay::reference {
namespace {

constexpr int64_t kLeastPacked = 4096;
// A tensor is packed into at most one run for so many Vars.
constexpr int64_t kLeastVarsOfRun = 16;

bool IsComputed(const Var& x) {
  return x.source() == 0 ? x.node() != 0 : (x.source() & kGivenSource) == 0;
}

template <class T>
void PutNumbers(std::span<const Var> vars, std::span<T> numbers) {
  std::ranges::transform(vars, numbers.begin(), [](const Var& x) {
    return static_cast<T>(x.value());
  });
}

}  // namespace

bool PackedVars::ContinuesLastRun(const Var& x) const {
  if (runs_.empty() || runs_.back().source != x.source()) return false;
  const Run& last = runs_.back();
  return x.source() == 0 ? std::bit_cast<uint64_t>(constants_[last.first]) ==
                               std::bit_cast<uint64_t>(x.value())
                         : last.first + last.count == x.node();
}

std::optional<PackedVars> PackedVars::Of(const Tensor& vars) {
  if (vars.num_elements() < kLeastPacked) return std::nullopt;
  PackedVars packed(vars.shape());
  const auto most_runs =
      static_cast<size_t>(vars.num_elements() / kLeastVarsOfRun);
  for (const Var& x : vars.elements<Var>()) {
    if ((x.source() & kGivenSource) != 0) return std::nullopt;
    if (packed.ContinuesLastRun(x)) {
      ++packed.runs_.back().count;
      continue;
    }
    if (packed.runs_.size() == most_runs) return std::nullopt;
    const bool is_constant = x.source() == 0;
    const auto constants = static_cast<uint32_t>(packed.constants_.size());
    packed.runs_.push_back({x.source(), is_constant ? constants : x.node(), 1});
    if (is_constant) packed.constants_.push_back(x.value());
  }
  return packed;
}

Result<Tensor> PackedVars::Unpack(
    const std::function<const std::vector<double>&(uint32_t source)>& values_of)
    const {
  ASSAY_ASSIGN_OR_RETURN(Tensor vars, Tensor::Allocate(kDTypeOf<Var>, shape_));
  auto to = vars.mutable_elements<Var>().begin();
  for (const Run& run : runs_) {
    if (run.source == 0) {
      to = std::fill_n(to, run.count, Var(constants_[run.first]));
      continue;
    }
    const std::vector<double>& values = values_of(run.source);
    for (uint32_t k = run.first; k < run.first + run.count; ++k) {
      *to++ = Var(values[k], k, run.source);
    }
  }
  return vars;
}

Result<std::optional<Tensor>> NumbersNotComputed(const Tensor& vars) {
  const auto elements = vars.elements<Var>();
  if (std::ranges::any_of(elements, IsComputed)) return std::nullopt;
  const bool fit_single = std::ranges::all_of(elements, [](const Var& x) {
    return std::isnan(x.value()) || static_cast<float>(x.value()) == x.value();
  });
  ASSAY_ASSIGN_OR_RETURN(
      Tensor numbers,
      Tensor::Allocate(fit_single ? DType::kFloat32 : DType::kFloat64,
                       vars.shape()));
  if (fit_single) {
    PutNumbers(elements, numbers.mutable_elements<float>());
  } else {
    PutNumbers(elements, numbers.mutable_elements<double>());
  }
  return numbers;
}

}  // namespace assay::reference
