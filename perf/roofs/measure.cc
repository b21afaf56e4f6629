// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "perf/roofs/rate.h"
#include "perf/roofs/roofs.h"
#include "perf/roofs/vector_code.h"

namespace assay::roofs {
namespace {

/// A loop for each thread, and whose it is.
struct Candidate {
  std::string code;
  std::function<Loop()> make;
};

/// Wall time for a roof, at first and where that gave too few samples.
constexpr int64_t kBudgetNs = 100'000'000;
constexpr int64_t kMostBudgetNs = 16 * kBudgetNs;

/// The chains of a type, and of others that serve for it.
std::vector<Chains VectorCode::*> ChainsFor(std::string_view type) {
  if (type == "float32") return {&VectorCode::float32};
  if (type == "float64") return {&VectorCode::float64};
  if (type == "bfloat16") return {&VectorCode::bfloat16, &VectorCode::float32};
  if (type == "int8") return {&VectorCode::int8};
  return {};
}

std::vector<Candidate> ComputeLoops(std::string_view type) {
  std::vector<Candidate> loops;
  for (const VectorCode* const code : CodesHere()) {
    for (const auto member : ChainsFor(type)) {
      const Chains chains = code->*member;
      if (chains.run == nullptr) continue;
      loops.push_back({code->name, [chains] {
                         return Loop{chains.operations, chains.run};
                       }});
    }
  }
  return loops;
}

/// Memory that one thread goes through, a part in each round.
class Parts {
 public:
  explicit Parts(int64_t bytes) {
    constexpr int64_t kPartBytes = int64_t{1} << 20;
    constexpr int64_t kStepBytes = kArrays * kSizeStep * int64_t{sizeof(float)};
    count_ = std::max<int64_t>(1, bytes / kPartBytes);
    size_ = kSizeStep * std::max<int64_t>(1, bytes / count_ / kStepBytes);
    const int64_t lines = count_ * kArrays * size_ / std::ssize(Line().numbers);
    lines_.resize(static_cast<size_t>(lines));
  }

  double bytes_of_one() const {
    return static_cast<double>(kArrays * size_) * sizeof(float);
  }
  int64_t count() const { return count_; }
  Memory Next() {
    float* const begin = lines_[0].numbers.data() + kArrays * size_ * next_;
    next_ = (next_ + 1) % count_;
    return {begin, begin + size_, begin + 2 * size_, size_};
  }

 private:
  static constexpr int64_t kArrays = 3;
  struct alignas(64) Line {
    std::array<float, 16> numbers = {};
  };
  std::vector<Line> lines_;
  int64_t count_ = 1, size_ = 0, next_ = 0;
};

using Pass = void (*)(const Memory& memory, int64_t passes);

Candidate PassOver(std::string code, Pass pass, int64_t bytes) {
  return {std::move(code), [pass, bytes] {
            const auto parts = std::make_shared<Parts>(bytes);
            return Loop{parts->bytes_of_one(), [parts, pass](int64_t rounds) {
                          if (parts->count() == 1) {
                            return pass(parts->Next(), rounds);
                          }
                          for (; rounds > 0; --rounds) pass(parts->Next(), 1);
                        }};
          }};
}

std::vector<Candidate> MemoryLoops(int64_t bytes) {
  std::vector<Candidate> loops;
  for (const VectorCode* const code : CodesHere()) {
    if (code->read == nullptr) continue;
    loops.push_back(PassOver(StrCat(code->name, " read"), code->read, bytes));
    loops.push_back(PassOver(StrCat(code->name, " triad"), code->triad, bytes));
  }
  return loops;
}

/// Measures one of so many candidates, in more time where others have the
/// processor.
Result<Rate> RateOfCandidate(const Candidate& candidate, int64_t threads,
                             int64_t candidates) {
  Result<Rate> rate = Rate();
  for (int64_t ns = kBudgetNs; ns <= kMostBudgetNs; ns *= 4) {
    rate = RateOf(candidate.make,
                  {.threads = threads, .budget_ns = ns / candidates});
    if (rate.ok()) break;
  }
  return rate;
}

}  // namespace

Roof MeasureHere(const RoofName& name, const Level* level) {
  Roof roof = {.name = name};
  const auto loops =
      level == nullptr ? ComputeLoops(name.type) : MemoryLoops(level->probed);
  if (level != nullptr) roof.bytes = level->probed;
  if (loops.empty()) {
    roof.none = StrCat("no vector code here computes in ", name.type);
  }
  for (const Candidate& loop : loops) {
    const auto rate = RateOfCandidate(loop, name.threads, std::ssize(loops));
    if (!rate.ok()) {
      roof.none = rate.status().message();
    } else if (!roof.rate || rate->median > roof.rate->median) {
      roof.rate = *rate;
      roof.code = loop.code;
    }
  }
  if (roof.rate.has_value()) roof.none.clear();
  return roof;
}

}  // namespace assay::roofs
