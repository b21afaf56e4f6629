// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/scheme/scheme_case.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/ranks/scheme/codec/codec.h"
#include "framework/train/rule/optimizers.h"

namespace assay::distributed {
namespace {

using ranks::Algorithm;
using ranks::Operation;
using ranks::Scheme;
using ranks::Travel;
using Optimizer = std::unique_ptr<train::Optimizer>;

constexpr int kSchemeRanks[] = {1, 2, 3, 4, 8};
// The ranks of tier scale, for one scheme with an optimizer that has no state.
// Powers of two divide sums without rounding.
constexpr int kSchemeRanksOfScale[] = {64, 256, 1024};
constexpr std::string_view kSchemeOfScale = "train_all_reduce";
constexpr std::string_view kOptimizerOfScale = "gradient_descent";
// The messages of a ring grow with the square of the ranks.
constexpr int kMostOfRing = 256;
constexpr int64_t kFloatBytes = 4;
constexpr char kOwnWay[] = "own";

/// The sizes of the parameters of a model, in elements.
using Sizes = std::span<const int64_t>;

int64_t SumOf(Sizes sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
}

Result<ranks::Cost> Of(Operation operation, Algorithm algorithm, int ranks,
                       int64_t count) {
  return ranks::CostOf({operation, algorithm, ranks, count, 0});
}

/// The cost of one collective over all tensors.
Result<SchemeCost> CostOfMean(Algorithm algorithm, int ranks, Sizes sizes) {
  ASSAY_ASSIGN_OR_RETURN(
      const ranks::Cost cost,
      Of(Operation::kAllReduce, algorithm, ranks, SumOf(sizes)));
  return SchemeCost{kFloatBytes * cost.elements, cost.messages};
}

/// The cost of a collective of gradients and one of parameters.
Result<SchemeCost> CostOfTwo(Operation first, Operation second,
                             Algorithm algorithm, int ranks, int64_t count) {
  ASSAY_ASSIGN_OR_RETURN(const ranks::Cost there,
                         Of(first, algorithm, ranks, count));
  ASSAY_ASSIGN_OR_RETURN(const ranks::Cost back,
                         Of(second, algorithm, ranks, count));
  return SchemeCost{kFloatBytes * (there.elements + back.elements),
                    there.messages + back.messages};
}

Result<SchemeCost> CostOfServer(Algorithm algorithm, int ranks, Sizes sizes) {
  return CostOfTwo(Operation::kReduce, Operation::kBroadcast, algorithm, ranks,
                   SumOf(sizes));
}

/// The cost of the same bytes, in a number of messages that depends on the
/// owners.
Result<SchemeCost> CostOfOwners(Algorithm algorithm, int ranks, Sizes sizes) {
  ASSAY_ASSIGN_OR_RETURN(SchemeCost cost,
                         CostOfServer(algorithm, ranks, sizes));
  cost.messages.reset();
  return cost;
}

/// The blocks are equal.
Result<SchemeCost> CostOfBlocks(Algorithm algorithm, int ranks, Sizes sizes) {
  return CostOfTwo(Operation::kReduceScatter, Operation::kAllGather, algorithm,
                   ranks, (SumOf(sizes) + ranks - 1) / ranks);
}

/// The cost of one collective for each tensor.
Result<SchemeCost> CostOfBuckets(Algorithm algorithm, int ranks, Sizes sizes) {
  SchemeCost sum{0, 0};
  for (const int64_t size : sizes) {
    ASSAY_ASSIGN_OR_RETURN(const ranks::Cost cost,
                           Of(Operation::kAllReduce, algorithm, ranks, size));
    sum.bytes += kFloatBytes * cost.elements;
    *sum.messages += cost.messages;
  }
  return sum;
}

using MakeCodec = std::function<std::unique_ptr<ranks::Codec>(int rank)>;

Result<SchemeCost> CostOfCodec(const MakeCodec& codec, Algorithm algorithm,
                               int ranks, Sizes sizes) {
  SchemeCost sum{0, 0};
  for (const int64_t size : sizes) {
    ASSAY_ASSIGN_OR_RETURN(
        const ranks::Cost cost,
        Of(Operation::kAllGather, algorithm, ranks, codec(0)->BytesOf(size)));
    sum.bytes += cost.elements;
    *sum.messages += cost.messages;
  }
  return sum;
}

struct Kind {
  std::string_view name;
  std::span<const Algorithm> ways;  // algorithms for its tensors
  std::function<std::unique_ptr<Scheme>(Endpoint&, Optimizer,
                                        std::optional<Algorithm>)>
      make;
  /// The cost of a round. Null where its bytes depend on its numbers.
  std::function<Result<SchemeCost>(Algorithm, int ranks, Sizes)> cost;
  int64_t period = 1;  // steps of a round
  bool has_each_step = true;
  /// True where the library's own collectives can carry its tensors.
  bool has_own = true;
  Promise promise = Promise::kLargeBatch;
  /// Optimizers for which it does not keep its promise.
  std::vector<std::string_view> without = {};
  int64_t batches = 1;  // batches of a rank in a step
};

/// A scheme with a codec. It has the large batch's bits where the codec loses
/// nothing of small whole numbers.
Kind Compressed(std::string_view name, const MakeCodec& codec,
                Promise promise = Promise::kLargeBatch) {
  return {.name = name,
          .ways = ranks::AlgorithmsOf(Operation::kAllGather),
          .make =
              [=](Endpoint& mine, Optimizer optimizer,
                  std::optional<Algorithm> algorithm) {
                return std::make_unique<ranks::CompressedScheme>(
                    mine, std::move(optimizer), codec(mine.rank()),
                    ranks::CompressedScheme::Options{.algorithm = *algorithm});
              },
          .cost =
              [=](Algorithm algorithm, int ranks, Sizes sizes) {
                return CostOfCodec(codec, algorithm, ranks, sizes);
              },
          .has_own = false,
          .promise = promise};
}

/// The cost of dense vectors, each of which follows its length.
Result<SchemeCost> CostOfWhole(Algorithm algorithm, int ranks, Sizes sizes) {
  constexpr int64_t kLengthBytes = 8;
  ASSAY_ASSIGN_OR_RETURN(SchemeCost cost,
                         CostOfBuckets(algorithm, ranks, sizes));
  cost.bytes += kLengthBytes * *cost.messages;
  *cost.messages *= 2;
  return cost;
}

/// A scheme that sends the top share of all numbers as sparse vectors.
Kind Sparse(std::string_view name, double share) {
  static constexpr Algorithm kWay[] = {Algorithm::kRecursiveDoubling};
  Kind kind{
      .name = name,
      .ways = kWay,
      .make =
          [=](Endpoint& mine, Optimizer optimizer, std::optional<Algorithm>) {
            return std::make_unique<ranks::SparseScheme>(
                mine, std::move(optimizer), share);
          },
      .has_own = false,
      .promise = share == 1 ? Promise::kLargeBatch : Promise::kAgreement};
  // The indices that two ranks have in common depend on the gradients.
  if (share == 1) kind.cost = &CostOfWhole;
  return kind;
}

/// A codec that is the same for all ranks.
template <class Made>
MakeCodec Coding(auto... arguments) {
  return [=](int) { return std::make_unique<Made>(arguments...); };
}

std::unique_ptr<ranks::Codec> Levels(int rank) {
  return std::make_unique<ranks::LevelCodec>(
      4, core::KeyOf(/*seed=*/7, static_cast<int64_t>(rank)));
}

/// Every optimizer but plain descent, the only one whose parameters may be
/// averaged in place of gradients.
std::vector<std::string_view> AllButDescent() {
  std::vector<std::string_view> names;
  for (const std::string_view name : train::OptimizerNames()) {
    if (name != "gradient_descent") names.push_back(name);
  }
  return names;
}

template <class Made>
auto Travelling(int64_t most = std::numeric_limits<int64_t>::max()) {
  return [most](Endpoint& mine, Optimizer optimizer,
                std::optional<Algorithm> algorithm) {
    return std::make_unique<Made>(mine, std::move(optimizer),
                                  Travel{algorithm, most});
  };
}

constexpr int64_t kAccumulated = 2;

std::unique_ptr<Scheme> Accumulating(Endpoint& mine, Optimizer optimizer,
                                     std::optional<Algorithm> algorithm) {
  return std::make_unique<ranks::AccumulatingScheme>(
      std::make_unique<ranks::AllReduceScheme>(mine, std::move(optimizer),
                                               Travel{algorithm}),
      kAccumulated);
}

Kind Averaged(std::string_view name, int64_t period) {
  return {.name = name,
          .ways = ranks::AlgorithmsOf(Operation::kAllReduce),
          .make =
              [period](Endpoint& mine, Optimizer optimizer,
                       std::optional<Algorithm> algorithm) {
                return std::make_unique<ranks::AverageScheme>(
                    mine, std::move(optimizer), Travel{algorithm}, period);
              },
          .cost = &CostOfMean,
          .period = period,
          .has_each_step = period == 1,
          .without = AllButDescent()};
}

// A step of several batches sends the messages of a step of one batch.
constexpr Algorithm kRing[] = {Algorithm::kRing};

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {.name = "train_all_reduce",
       .ways = ranks::AlgorithmsOf(Operation::kAllReduce),
       .make = Travelling<ranks::AllReduceScheme>(),
       .cost = &CostOfMean},
      {.name = "train_buckets",
       .ways = ranks::AlgorithmsOf(Operation::kAllReduce),
       .make = Travelling<ranks::AllReduceScheme>(/*most=*/1),
       .cost = &CostOfBuckets},
      {.name = "train_server",
       .ways = ranks::AlgorithmsOf(Operation::kReduce),
       .make = Travelling<ranks::ServerScheme>(),
       .cost = &CostOfServer,
       .has_each_step = false},
      {.name = "train_sharded",
       .ways = ranks::AlgorithmsOf(Operation::kReduce),
       .make = Travelling<ranks::ShardedScheme>(),
       .cost = &CostOfOwners,
       .has_each_step = false,
       .without = {"accelegrad"}},
      {.name = "train_scattered",
       .ways = ranks::AlgorithmsOf(Operation::kReduceScatter),
       .make = Travelling<ranks::ScatteredScheme>(),
       .cost = &CostOfBlocks,
       .has_each_step = false,
       .without = {"accelegrad", "lamb"}},
      {.name = "train_accumulated",
       .ways = kRing,
       .make = &Accumulating,
       .cost = &CostOfMean,
       .batches = kAccumulated},
      Averaged("train_average", /*period=*/1),
      Averaged("train_average_2", /*period=*/2),
      Compressed("train_float16",
                 Coding<ranks::RoundingCodec>(DType::kFloat16)),
      Compressed("train_bfloat16",
                 Coding<ranks::RoundingCodec>(DType::kBFloat16)),
      Compressed("train_top", Coding<ranks::TopCodec>(/*share=*/1)),
      Compressed("train_top_fifth", Coding<ranks::TopCodec>(/*share=*/0.2),
                 Promise::kAgreement),
      Compressed("train_signs", Coding<ranks::SignCodec>(),
                 Promise::kAgreement),
      Compressed("train_levels", &Levels, Promise::kAgreement),
      Sparse("train_sparse", /*share=*/1),
      Sparse("train_sparse_fifth", /*share=*/0.2)};
  return kinds;
}

const Kind& KindOf(const SchemeCase& test_case) {
  return *std::ranges::find(Kinds(), test_case.scheme, &Kind::name);
}

/// Nothing for the library's own collectives.
std::optional<Algorithm> AlgorithmOf(const SchemeCase& test_case) {
  for (const Algorithm way : KindOf(test_case).ways) {
    if (ToString(way) == test_case.way) return way;
  }
  return std::nullopt;
}

std::vector<std::string> WaysOf(const Kind& kind) {
  std::vector<std::string> ways;
  for (const Algorithm way : kind.ways) {
    ways.emplace_back(ToString(way));
  }
  if (kind.has_own) ways.emplace_back(kOwnWay);
  return ways;
}

}  // namespace

std::string StepsText(int64_t steps, int64_t planned) {
  return steps == planned ? "" : StrCat(".", kStepsWord, steps);
}

std::string SchemeCase::test_id() const {
  return StrCat("distributed/", scheme, "/", way, ".", optimizer, "#n", ranks,
                StepsText(steps, kTrainedSteps));
}

cases::Tier SchemeCase::tier() const {
  return ranks > kSchemeRanks[std::size(kSchemeRanks) - 1] ? cases::Tier::kScale
                                                           : cases::Tier::kCi;
}

bool HasMean(std::string_view scheme, int64_t ranks) {
  return !scheme.starts_with("train_average") ||
         std::has_single_bit(static_cast<uint64_t>(ranks));
}

std::vector<SchemeCase> AllSchemeCases() {
  std::vector<SchemeCase> all;
  for (const Kind& kind : Kinds()) {
    for (const std::string& way : WaysOf(kind)) {
      for (const std::string_view optimizer : train::OptimizerNames()) {
        if (std::ranges::count(kind.without, optimizer) > 0) continue;
        for (const int ranks : kSchemeRanks) {
          if (!HasMean(kind.name, ranks)) continue;
          all.push_back(
              {std::string(kind.name), way, std::string(optimizer), ranks});
        }
        if (kind.name != kSchemeOfScale || optimizer != kOptimizerOfScale) {
          continue;
        }
        for (const int ranks : kSchemeRanksOfScale) {
          if (way == ToString(Algorithm::kRing) && ranks > kMostOfRing) {
            continue;
          }
          all.push_back(
              {std::string(kind.name), way, std::string(optimizer), ranks});
        }
      }
    }
  }
  return all;
}

Promise PromiseOf(const SchemeCase& test_case) {
  return KindOf(test_case).promise;
}

bool IsOwn(const SchemeCase& test_case) { return test_case.way == kOwnWay; }

int64_t BatchesOf(const SchemeCase& test_case) {
  return KindOf(test_case).batches;
}

bool HasEachStep(const SchemeCase& test_case) {
  return KindOf(test_case).has_each_step;
}

Result<Optimizer> OptimizerOf(const SchemeCase& test_case) {
  ASSAY_ASSIGN_OR_RETURN(
      train::Made made,
      train::MakeOptimizer({test_case.optimizer, "paper", test_case.settings}));
  return std::move(made.optimizer);
}

std::unique_ptr<Scheme> SchemeOf(const SchemeCase& test_case,
                                 Endpoint& endpoint) {
  return KindOf(test_case).make(endpoint, OptimizerOf(test_case).value(),
                                AlgorithmOf(test_case));
}

Result<std::optional<SchemeCost>> CostOf(const SchemeCase& test_case,
                                         Sizes sizes, int64_t steps) {
  const Kind& kind = KindOf(test_case);
  const auto algorithm = AlgorithmOf(test_case);
  if (!algorithm.has_value() || !kind.cost) return std::optional<SchemeCost>();
  ASSAY_ASSIGN_OR_RETURN(SchemeCost cost,
                         kind.cost(*algorithm, test_case.ranks, sizes));
  const int64_t rounds = steps / kind.period;
  cost.bytes *= rounds;
  if (cost.messages.has_value()) *cost.messages *= rounds;
  return std::optional(cost);
}

}  // namespace assay::distributed
