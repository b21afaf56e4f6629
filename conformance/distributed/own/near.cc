// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/own/near.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "conformance/distributed/collective/judge.h"
#include "conformance/distributed/ranks/bits.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/core/text.h"
#include "framework/ranks/own.h"

namespace assay::distributed {
namespace {

using measure::Judgement;

/// A sum over all ranks in long double, and the sum of magnitudes.
struct Sum {
  long double value = 0, magnitude = 0;
};

template <class T>
Sum SumAt(const OwnSet& before, size_t i) {
  Sum sum;
  for (const Tensor& each : before) {
    const long double x = each.elements<T>()[i];
    sum.value += x;
    sum.magnitude += std::abs(x);
  }
  return sum;
}

template <class T>
long double UlpOf(long double x) {
  const T magnitude = static_cast<T>(std::abs(x));
  return std::nextafter(magnitude, std::numeric_limits<T>::infinity()) -
         magnitude;
}

template <class T>
std::optional<Judgement> JudgeSums(const ranks::Collective& what,
                                   const OwnSet& before,
                                   std::span<const Tensor> got,
                                   DistributedRow* row) {
  const long double additions = what.ranks - 1;
  const long double rounding =
      additions * std::numeric_limits<T>::epsilon() / 2;
  const long double share = rounding / (1 - rounding);
  std::optional<Judgement> first;
  long double greatest = 0;
  for (size_t rank = 0; rank < got.size(); ++rank) {
    const ranks::Part part =
        ranks::OwnPartsOf(what, static_cast<int>(rank)).out;
    for (int64_t i = part.begin; i < part.begin + part.count; ++i) {
      const auto at = static_cast<size_t>(i);
      const Sum sum = SumAt<T>(before, at);
      const T found = got[rank].elements<T>()[at];
      const long double error = std::abs(found - sum.value);
      greatest = std::max(greatest, error / UlpOf<T>(sum.value));
      if (error <= share * sum.magnitude || first.has_value()) continue;
      first =
          Fails(kFailBits,
                StrCat(RankName(rank), ", element ", i, ": found ", found,
                       ", wanted ", static_cast<double>(sum.value), " within ",
                       static_cast<double>(share * sum.magnitude)));
    }
  }
  row->max_ulp = static_cast<double>(greatest);
  return first;
}

/// Null where all ranks have the same bits.
std::optional<Judgement> JudgeAgreement(std::span<const Tensor> got,
                                        DistributedRow* row) {
  row->rank_agreement = 1;
  for (size_t rank = 1; rank < got.size(); ++rank) {
    if (std::ranges::equal(got[rank].bytes(), got[0].bytes())) continue;
    row->rank_agreement = 0;
    int64_t i = 0;
    while (
        std::ranges::equal(PartOf(got[rank], {i, 1}), PartOf(got[0], {i, 1}))) {
      ++i;
    }
    return Fails(kFailBits, StrCat(RankName(rank), ", element ", i,
                                   ": found other bits than those of rank 0: ",
                                   ElementText(got[rank], i), " and ",
                                   ElementText(got[0], i)));
  }
  return std::nullopt;
}

/// True where the results of two tasks have the same bits, as far as the
/// shorter one goes.
bool AreAlike(const OwnTask& one, const OwnTask& other) {
  const ranks::Part a = ranks::OwnPartsOf(one.what, one.rank).out;
  const ranks::Part b = ranks::OwnPartsOf(other.what, other.rank).out;
  const int64_t count = std::min(a.count, b.count);
  return std::ranges::equal(PartOf(one.buffer, {a.begin, count}),
                            PartOf(other.buffer, {b.begin, count}));
}

}  // namespace

std::optional<Judgement> JudgeNear(const ranks::Collective& what,
                                   const OwnSet& before,
                                   std::span<const Tensor> got,
                                   DistributedRow* row) {
  const auto differs = got[0].dtype() == DType::kFloat32
                           ? JudgeSums<float>(what, before, got, row)
                           : JudgeSums<double>(what, before, got, row);
  if (what.operation != ranks::Operation::kAllReduce) return differs;
  const auto disagrees = JudgeAgreement(got, row);
  return differs.has_value() ? differs : disagrees;
}

std::string DeterminismOf(const std::vector<std::vector<OwnTask>>& ran) {
  std::string text;
  size_t variant = 0;
  for (const char* const name : {"run", "sizes", "order"}) {
    ++variant;
    const bool is_same = std::ranges::all_of(ran, [&](const auto& tasks) {
      return AreAlike(tasks[0], tasks[variant]);
    });
    if (is_same) text += StrCat(text.empty() ? "" : "+", name);
  }
  return text.empty() ? "none" : text;
}

}  // namespace assay::distributed
