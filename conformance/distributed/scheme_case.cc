// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/scheme_case.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include "framework/core/text.h"
#include "framework/dist/model/whole_objective.h"
#include "framework/dist/scheme/codec.h"
#include "framework/dist/scheme/compressed.h"
#include "framework/dist/scheme/sharded.h"
#include "framework/train/rule/optimizers.h"

namespace assay::distributed {
namespace {

using dist::Algorithm;
using dist::Operation;
using dist::Scheme;
using dist::Travel;
using Optimizer = std::unique_ptr<train::Optimizer>;

constexpr int kRanks[] = {1, 2, 3, 4, 8};
constexpr int64_t kFloatBytes = 4;

/// Those of the model together.
int64_t Elements() {
  int64_t elements = 0;
  for (const int size : dist::WholeObjective::kSizes) elements += size;
  return elements;
}

Result<dist::Cost> Of(Operation operation, Algorithm algorithm, int ranks,
                      int64_t count) {
  return dist::CostOf({operation, algorithm, ranks, count, 0});
}

/// A step of a collective over all tensors at once.
Result<SchemeCost> CostOfMean(Algorithm algorithm, int ranks) {
  ASSAY_ASSIGN_OR_RETURN(
      const dist::Cost cost,
      Of(Operation::kAllReduce, algorithm, ranks, Elements()));
  return SchemeCost{kFloatBytes * cost.elements, cost.messages};
}

/// A step that sends gradients to the one who takes it, and parameters back.
Result<SchemeCost> CostOfServer(Algorithm algorithm, int ranks) {
  ASSAY_ASSIGN_OR_RETURN(const dist::Cost there,
                         Of(Operation::kReduce, algorithm, ranks, Elements()));
  ASSAY_ASSIGN_OR_RETURN(
      const dist::Cost back,
      Of(Operation::kBroadcast, algorithm, ranks, Elements()));
  return SchemeCost{kFloatBytes * (there.elements + back.elements),
                    there.messages + back.messages};
}

/// The same bytes, in as many messages as there are owners of parameters.
Result<SchemeCost> CostOfOwners(Algorithm algorithm, int ranks) {
  ASSAY_ASSIGN_OR_RETURN(SchemeCost cost, CostOfServer(algorithm, ranks));
  cost.messages.reset();
  return cost;
}

template <class MakeCodec>
Result<SchemeCost> CostOfCodec(MakeCodec codec, Algorithm algorithm,
                               int ranks) {
  SchemeCost sum{0, 0};
  for (const int size : dist::WholeObjective::kSizes) {
    ASSAY_ASSIGN_OR_RETURN(
        const dist::Cost cost,
        Of(Operation::kAllGather, algorithm, ranks, codec()->BytesOf(size)));
    sum.bytes += cost.elements;
    *sum.messages += cost.messages;
  }
  return sum;
}

/// A scheme of the suite.
struct Kind {
  std::string_view name;
  Operation ways;  // whose algorithms it can travel by
  std::function<std::unique_ptr<Scheme>(Endpoint&, Optimizer, Algorithm)> make;
  std::function<Result<SchemeCost>(Algorithm, int ranks)> cost;  // of a step
  /// Optimizers that it is not the large batch for.
  std::vector<std::string_view> without = {};
};

/// Through a codec that loses nothing of small whole numbers.
template <class MakeCodec>
Kind Compressed(std::string_view name, MakeCodec codec) {
  return {name, Operation::kAllGather,
          [=](Endpoint& mine, Optimizer optimizer, Algorithm algorithm) {
            return std::make_unique<dist::CompressedScheme>(
                mine, std::move(optimizer), codec(),
                dist::CompressedScheme::Options{.algorithm = algorithm});
          },
          [=](Algorithm algorithm, int ranks) {
            return CostOfCodec(codec, algorithm, ranks);
          }};
}

std::unique_ptr<dist::Codec> Float16() {
  return std::make_unique<dist::RoundingCodec>(DType::kFloat16);
}
std::unique_ptr<dist::Codec> BFloat16() {
  return std::make_unique<dist::RoundingCodec>(DType::kBFloat16);
}
std::unique_ptr<dist::Codec> AllOfThem() {
  return std::make_unique<dist::TopCodec>(1);
}

/// Every optimizer but plain descent, whose steps alone may be averaged in place of
/// gradients.
std::vector<std::string_view> AllButDescent() {
  std::vector<std::string_view> names;
  for (const std::string_view name : train::OptimizerNames()) {
    if (name != "gradient_descent") names.push_back(name);
  }
  return names;
}

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {"train_all_reduce", Operation::kAllReduce,
       [](Endpoint& mine, Optimizer optimizer, Algorithm algorithm) {
         return std::make_unique<dist::AllReduceScheme>(
             mine, std::move(optimizer), Travel{algorithm});
       },
       &CostOfMean},
      {"train_server", Operation::kReduce,
       [](Endpoint& mine, Optimizer optimizer, Algorithm algorithm) {
         return std::make_unique<dist::ServerScheme>(mine, std::move(optimizer),
                                                     Travel{algorithm});
       },
       &CostOfServer},
      {"train_sharded",
       Operation::kReduce,
       [](Endpoint& mine, Optimizer optimizer, Algorithm algorithm) {
         return std::make_unique<dist::ShardedScheme>(
             mine, std::move(optimizer), Travel{algorithm});
       },
       &CostOfOwners,
       {"accelegrad"}},
      {"train_average", Operation::kAllReduce,
       [](Endpoint& mine, Optimizer optimizer, Algorithm algorithm) {
         return std::make_unique<dist::AverageScheme>(
             mine, std::move(optimizer), Travel{algorithm}, /*period=*/1);
       },
       &CostOfMean, AllButDescent()},
      Compressed("train_float16", &Float16),
      Compressed("train_bfloat16", &BFloat16),
      Compressed("train_top", &AllOfThem)};
  return kinds;
}

const Kind& KindOf(const SchemeCase& test_case) {
  return *std::ranges::find(Kinds(), test_case.scheme, &Kind::name);
}

Algorithm AlgorithmOf(const SchemeCase& test_case) {
  const auto ways = dist::AlgorithmsOf(KindOf(test_case).ways);
  return *std::ranges::find_if(ways, [&](const Algorithm way) {
    return ToString(way) == test_case.way;
  });
}

}  // namespace

std::string SchemeCase::test_id() const {
  return StrCat("distributed/", scheme, "/", way, ".", optimizer, "#n", ranks);
}

std::vector<SchemeCase> AllSchemeCases() {
  std::vector<SchemeCase> all;
  for (const Kind& kind : Kinds()) {
    for (const Algorithm way : dist::AlgorithmsOf(kind.ways)) {
      for (const std::string_view optimizer : train::OptimizerNames()) {
        if (std::ranges::count(kind.without, optimizer) > 0) continue;
        for (const int ranks : kRanks) {
          // A mean of parameters is that of gradients where nothing is rounded.
          const bool rounds = kind.name == "train_average" && ranks == 3;
          if (rounds) continue;
          all.push_back({std::string(kind.name), std::string(ToString(way)),
                         std::string(optimizer), ranks});
        }
      }
    }
  }
  return all;
}

std::unique_ptr<Scheme> SchemeOf(const SchemeCase& test_case,
                                 Endpoint& endpoint) {
  auto made =
      train::MakeOptimizer({test_case.optimizer, "paper", "rate=0.125"});
  return KindOf(test_case).make(endpoint, std::move(made.value().optimizer),
                                AlgorithmOf(test_case));
}

Result<SchemeCost> CostOf(const SchemeCase& test_case) {
  ASSAY_ASSIGN_OR_RETURN(
      SchemeCost cost,
      KindOf(test_case).cost(AlgorithmOf(test_case), test_case.ranks));
  cost.bytes *= kTrainedSteps;
  if (cost.messages.has_value()) *cost.messages *= kTrainedSteps;
  return cost;
}

}  // namespace assay::distributed
