// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <type_traits>
#include <utility>

#include "conformance/distributed/collective/collective_case.h"
#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/fields.h"
#include "framework/ranks/interception.h"
#include "framework/ranks/number.h"

namespace assay::distributed {
namespace {

using ranks::Operation;
using ranks::Reduction;

/// Calls visit.template operator()<T>() with the type of the elements.
Status OfType(DType type, auto&& visit) {
  Status status = Unsupported(Reason::kDType, "found elements of ", type,
                              ", wanted a number of 8 bits or more");
  ranks::VisitNumber(type, [&]<class T>(const T&) {
    status = visit.template operator()<T>();
  });
  return status;
}

/// A prime: the numbers of any two ranks below it differ at every index. Where
/// they are combined, the type has eight times as much: MPI leaves open how an
/// integer overflows, and Open MPI's sums of 8 bits saturate
/// (github.com/open-mpi/ompi, issue 8045).
int64_t DifferentOf(const CollectiveCase& of) {
  const bool combines = Reduces(of.what.operation);
  switch (of.type) {
    case DType::kInt8:
      return combines ? 13 : 127;
    case DType::kUint8:
      return combines ? 31 : 251;
    case DType::kFloat16:
    case DType::kBFloat16:
      return combines ? 31 : 251;
    default:
      return 1031;
  }
}

/// A number with the highest bit and one other, which differs between ranks as
/// far as the bits go.
uint64_t MarkOf(DType type, int64_t rank, int64_t i) {
  const int bits = BitsOf(type);
  return uint64_t{1} << (bits - 1) | uint64_t{1} << ((rank + i) % (bits - 1));
}

/// A number that is 0 for one rank of eleven, each at other indices.
uint64_t TruthOf(Reduction reduction, int64_t rank, int64_t i) {
  constexpr int64_t kTurns = 11;
  const bool is_turn = i % kTurns == rank % kTurns;
  const auto number = static_cast<uint64_t>(i % 5 + 1);
  if (reduction == Reduction::kLogicalAnd) return is_turn ? 0 : number;
  if (reduction == Reduction::kLogicalOr) return is_turn ? number : 0;
  return (rank * 37 + i * 11) % 2 == 0 ? 0 : number;
}

/// A number >= 1, but for logical operations. Unsigned ones that are compared
/// have the highest bit at every second index. For a product it is a power of
/// two, so that nothing rounds.
uint64_t WholeNumber(const CollectiveCase& of, int64_t rank, int64_t i) {
  const DType type = of.type;
  const int64_t different = DifferentOf(of);
  const auto number =
      static_cast<uint64_t>((rank * 37 + i * 11) % different + 1);
  switch (of.reduction) {
    case Reduction::kProduct:
      return (rank + i) % 3 == 0 ? 2 : 1;
    case Reduction::kBitAnd:
      return ~MarkOf(type, rank, i);
    case Reduction::kBitOr:
      return MarkOf(type, rank, i);
    case Reduction::kLogicalAnd:
    case Reduction::kLogicalOr:
    case Reduction::kLogicalXor:
      return TruthOf(of.reduction, rank, i);
    case Reduction::kCompose:
      // x -> (2 n + 1) x + n^2, of which no two commute.
      return (2 * number + 1) << 32 | number * number;
    default:
      break;
  }
  const bool is_high = of.reduction != Reduction::kSum &&
                       ClassOf(type) == DTypeClass::kUnsigned &&
                       (rank + i) % 2 == 1;
  return is_high ? number | uint64_t{1} << (BitsOf(type) - 1) : number;
}

uint64_t CombinedBits(Reduction reduction, uint64_t a, uint64_t b) {
  switch (reduction) {
    case Reduction::kSum:
      return a + b;
    case Reduction::kProduct:
      return a * b;
    case Reduction::kBitAnd:
      return a & b;
    case Reduction::kBitOr:
      return a | b;
    case Reduction::kBitXor:
      return a ^ b;
    case Reduction::kLogicalAnd:
      return a != 0 && b != 0;
    case Reduction::kLogicalOr:
      return a != 0 || b != 0;
    case Reduction::kLogicalXor:
      return (a != 0) != (b != 0);
    default:
      return Composed(a, b);
  }
}

/// `a` is of lower ranks. Integers wrap around; floats are combined only where
/// nothing rounds.
template <class T>
T Combined(Reduction reduction, T a, T b) {
  if (reduction == Reduction::kMin) return std::min(a, b);
  if (reduction == Reduction::kMax) return std::max(a, b);
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(CombinedBits(reduction, static_cast<uint64_t>(a),
                                       static_cast<uint64_t>(b)));
  } else {
    return static_cast<T>(reduction == Reduction::kSum ? a + b : a * b);
  }
}

/// The reduction over all ranks in their order, element by element.
template <class T>
std::vector<T> Together(Reduction reduction, const std::vector<Tensor>& all) {
  const auto first = all[0].elements<T>();
  std::vector<T> result(first.begin(), first.end());
  for (size_t rank = 1; rank < all.size(); ++rank) {
    const auto next = all[rank].elements<T>();
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] = Combined(reduction, result[i], next[i]);
    }
  }
  return result;
}

/// A block of elements goes from `begin` in a sender's buffer to `at` in a
/// receiver's.
struct Move {
  int64_t begin, at;
};

/// The blocks that rank `to` gets of rank `from`.
std::vector<Move> MovesOf(const ranks::Collective& what, int from, int to) {
  const int64_t block = what.count;
  switch (what.operation) {
    case Operation::kBroadcast:
      if (from == what.root) return {{0, 0}};
      break;
    case Operation::kScatter:
      if (from == what.root) return {{to * block, to * block}};
      break;
    case Operation::kGather:
      if (to == what.root) return {{from * block, from * block}};
      break;
    case Operation::kAllGather:
      return {{from * block, from * block}};
    case Operation::kAllToAll:
      return {{to * block, (what.ranks + from) * block}};
    default:
      break;
  }
  return {};
}

/// The part of the combined buffers that a rank gets.
ranks::Part CombinedPart(const ranks::Collective& what, int rank) {
  switch (what.operation) {
    case Operation::kAllReduce:
      return {0, what.count};
    case Operation::kReduce:
      return {0, rank == what.root ? what.count : 0};
    case Operation::kReduceScatter:
      return {rank * what.count, what.count};
    default:
      return {};
  }
}

template <class T>
void PutWanted(const CollectiveCase& test_case, const ranks::Collective& what,
               const std::vector<Tensor>& before, std::vector<Wanted>* wanted) {
  const std::vector<T> together = Reduces(what.operation)
                                      ? Together<T>(test_case.reduction, before)
                                      : std::vector<T>();
  for (int rank = 0; rank < what.ranks; ++rank) {
    Wanted& mine = (*wanted)[static_cast<size_t>(rank)];
    const auto elements = mine.buffer.mutable_elements<T>();
    if (const ranks::Part part = CombinedPart(what, rank); part.count > 0) {
      std::copy_n(together.begin() + part.begin, part.count,
                  elements.begin() + part.begin);
      mine.judged.push_back(part);
    }
    for (int from = 0; from < what.ranks; ++from) {
      const auto theirs = before[static_cast<size_t>(from)].elements<T>();
      for (const Move& move : MovesOf(what, from, rank)) {
        std::copy_n(theirs.begin() + move.begin, what.count,
                    elements.begin() + move.at);
        mine.judged.push_back({move.at, what.count});
      }
    }
  }
}

using measure::Judgement;

struct Shares {
  std::vector<Tensor> buffers;
  std::vector<RankSent> sent;
};

/// Runs a rank's part, and returns its traffic and its buffer as bytes.
Result<std::string> ShareOf(const CollectiveCase& test_case,
                            const ranks::Collective& what, Endpoint& mine,
                            const Tensor& before) {
  ASSAY_ASSIGN_OR_RETURN(Tensor buffer, before.Clone());
  ranks::WatchedEndpoint watched(mine);
  ASSAY_ASSIGN_OR_RETURN(const LibraryCount count, CountOf(mine));
  ASSAY_RETURN_IF_ERROR(
      ranks::RunCollective(what, test_case.reduction, watched, &buffer));
  ASSAY_ASSIGN_OR_RETURN(const RankSent sent,
                         SentSince(count, mine, watched.sent()));
  std::string text;
  ranks::AppendFields(sent, &text);
  AppendBytes(buffer.bytes(), &text);
  return text;
}

/// Reads what all ranks returned, into buffers as long as `before`. Data loss
/// for another length.
Result<Shares> SharesOf(const std::vector<std::string>& found,
                        const std::vector<Tensor>& before) {
  Shares shares;
  for (size_t rank = 0; rank < found.size(); ++rank) {
    RankSent& sent = shares.sent.emplace_back();
    Tensor& buffer = shares.buffers.emplace_back();
    ASSAY_ASSIGN_OR_RETURN(buffer, before[rank].Clone());
    ASSAY_ASSIGN_OR_RETURN(const std::span<std::byte> bytes,
                           ranks::BytesOf({0, buffer.num_elements()}, &buffer));
    std::string_view text = found[rank];
    if (!ranks::CutFields(&text, &sent) || !CutBytes(&text, bytes) ||
        !text.empty()) {
      return DataLoss("rank ", rank, " brought ", found[rank].size(),
                      " bytes of its share");
    }
  }
  return shares;
}

Result<Judgement> RunRoot(const CollectiveCase& test_case, int root,
                          const RunOf& run, record::Record* record) {
  ranks::Collective what = test_case.what;
  what.root = root;
  ASSAY_ASSIGN_OR_RETURN(const ranks::Cost cost, ranks::CostOf(what));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Tensor> before,
                         ContentsOf(test_case, run.seed));
  return RunAndJudge(
      run, RowOf(test_case, what, run, ToString(what.algorithm)),
      [&](Endpoint& mine) {
        return ShareOf(test_case, what, mine,
                       before[static_cast<size_t>(mine.rank())]);
      },
      [&](const auto& found,
          DistributedRow* row) -> Result<std::optional<Judgement>> {
        ASSAY_ASSIGN_OR_RETURN(const Shares shares, SharesOf(found, before));
        ASSAY_ASSIGN_OR_RETURN(const std::vector<Wanted> wanted,
                               WantedOf(test_case, root, before));
        const auto differs = JudgeBits(shares.buffers, wanted, RankName, row);
        const auto spent = JudgeTraffic(
            shares.sent, cost.elements * BitsOf(test_case.type) / 8,
            cost.messages, row);
        AddSimulated(shares.sent, row);
        return differs.has_value() ? differs : spent;
      },
      record, RootText(what));
}

}  // namespace

Result<std::vector<Tensor>> ContentsOf(const CollectiveCase& test_case,
                                       int64_t seed, int first_rank) {
  std::vector<Tensor> contents;
  for (int rank = first_rank; rank < first_rank + test_case.what.ranks;
       ++rank) {
    ASSAY_ASSIGN_OR_RETURN(
        Tensor buffer,
        Tensor::Allocate(test_case.type, {ranks::ElementsOf(test_case.what)}));
    core::Numbers drawn(core::KeyOf(static_cast<uint64_t>(seed), rank));
    ASSAY_RETURN_IF_ERROR(OfType(test_case.type, [&]<class T>() {
      const auto elements = buffer.mutable_elements<T>();
      for (size_t i = 0; i < elements.size(); ++i) {
        elements[i] = test_case.numbers == Numbers::kDrawn
                          ? static_cast<T>(drawn.Share() - 0.5)
                          : static_cast<T>(WholeNumber(
                                test_case, rank, static_cast<int64_t>(i)));
      }
      return OkStatus();
    }));
    contents.push_back(std::move(buffer));
  }
  return contents;
}

Result<std::vector<Wanted>> WantedOf(const CollectiveCase& test_case, int root,
                                     const std::vector<Tensor>& before) {
  ranks::Collective what = test_case.what;
  what.root = root;
  std::vector<Wanted> wanted;
  for (const Tensor& buffer : before) {
    ASSAY_ASSIGN_OR_RETURN(Tensor copy, buffer.Clone());
    wanted.push_back({std::move(copy), {}});
  }
  ASSAY_RETURN_IF_ERROR(OfType(test_case.type, [&]<class T>() {
    PutWanted<T>(test_case, what, before, &wanted);
    return OkStatus();
  }));
  if (test_case.numbers == Numbers::kWhole) return wanted;
  std::vector<ranks::Schedule> schedules;
  std::vector<Tensor> buffers;
  for (int rank = 0; rank < what.ranks; ++rank) {
    ASSAY_ASSIGN_OR_RETURN(schedules.emplace_back(),
                           ranks::ScheduleOf(what, rank));
    ASSAY_ASSIGN_OR_RETURN(buffers.emplace_back(),
                           before[static_cast<size_t>(rank)].Clone());
  }
  ASSAY_RETURN_IF_ERROR(
      ranks::RunTogether(schedules, buffers, {.reduction = test_case.reduction})
          .status());
  for (size_t rank = 0; rank < wanted.size(); ++rank) {
    wanted[rank].buffer = buffers[rank];
  }
  return wanted;
}

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

std::string RootText(const ranks::Collective& what) {
  return ranks::HasRoot(what.operation) ? StrCat(", at the root ", what.root)
                                        : "";
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

Judgement RunCase(const CollectiveCase& test_case, const RunOf& run,
                  record::Record* record) {
  return RunRoots(test_case.roots(), record, [&](int root) {
    return RunRoot(test_case, root, run, record);
  });
}

}  // namespace assay::distributed
