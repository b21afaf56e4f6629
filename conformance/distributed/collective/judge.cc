// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/collective/judge.h"

#include <cstdint>
#include <utility>

#include "conformance/distributed/ranks/bits.h"
#include "framework/core/text.h"

namespace assay::distributed {

DistributedRow RowOf(const CollectiveCase& test_case,
                     const ranks::Collective& what, const RunOf& run,
                     std::string_view way) {
  DistributedRow row;
  row.collective = StrCat(ToString(what.operation), "/", way);
  row.transport = run.transport;
  row.ranks = what.ranks;
  if (ranks::HasRoot(what.operation)) row.root = what.root;
  row.mode = test_case.numbers == Numbers::kDrawn ? "float" : "exact";
  row.seed = run.seed;
  return row;
}

measure::Judgement AtRoot(std::optional<measure::Judgement> fault,
                          const ranks::Collective& what) {
  if (!fault.has_value()) return Passes();
  if (ranks::HasRoot(what.operation)) {
    fault->message += StrCat(", at the root ", what.root);
  }
  return *std::move(fault);
}

std::string RankName(size_t rank) { return StrCat("rank ", rank); }

std::optional<measure::Judgement> JudgeBits(std::span<const Tensor> got,
                                            std::span<const Wanted> wanted,
                                            const NameOfBuffer& name,
                                            DistributedRow* row) {
  std::optional<measure::Judgement> first;
  int64_t differing = 0;
  HashOfRanks hash;
  for (size_t i = 0; i < got.size(); ++i) {
    const Tensor& right = wanted[i].buffer;
    for (const ranks::Part& part : wanted[i].judged) {
      hash.Add(PartOf(got[i], part));
      const int64_t bits =
          DifferingBits(PartOf(got[i], part), PartOf(right, part));
      differing += bits;
      if (bits == 0 || first.has_value()) continue;
      int64_t at = part.begin;
      while (DifferingBits(PartOf(got[i], {at, 1}), PartOf(right, {at, 1})) ==
             0) {
        ++at;
      }
      first = Fails(kFailBits, StrCat(name(i), ", element ", at, ": found ",
                                      ElementText(got[i], at), ", wanted ",
                                      ElementText(right, at)));
    }
  }
  row->differing_bits = differing;
  row->hash = hash.text();
  return first;
}

}  // namespace assay::distributed
