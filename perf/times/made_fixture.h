// SPDX-License-Identifier: Apache-2.0
//
// A backend whose calls a test writes down, a model for it, and what the suite
// time says of it.
//
//   MadeBackend slow([] {
//     return [](const Bound& bound) { Spin(200'000); Negate(bound); };
//   });
//   EXPECT_EQ(TimesOf(slow).verdict.outcome, Outcome::kPass);

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/function_network.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"
#include "framework/testing/times/row.h"
#include "framework/timing/clock.h"
#include "perf/times/judge.h"
#include "perf/times/subject.h"

namespace assay::times {

inline constexpr int64_t kElements = 16;

/// Keeps the processor busy.
inline void Spin(int64_t ns) {
  const int64_t end = timing::SteadyNow() + ns;
  while (timing::SteadyNow() < end) {
  }
}

/// The memory of a binding, which a copy keeps.
struct Bound {
  Tensor x, y;
};

inline void Fill(const Bound& bound, float number) {
  Tensor y = bound.y;
  std::ranges::fill(y.mutable_elements<float>(), number);
}

/// The right act.
inline void Negate(const Bound& bound) {
  Tensor y = bound.y;
  std::ranges::transform(bound.x.elements<float>(),
                         y.mutable_elements<float>().begin(), std::negate<>());
}

/// One call of a network.
using Act = std::function<void(const Bound& bound)>;

class MadeBinding : public Binding {
 public:
  MadeBinding(Tensor x, Tensor y)
      : bound{std::move(x), y}, outputs_{std::move(y)} {}
  std::span<const Value> outputs() const override { return outputs_; }

  const Bound bound;

 private:
  std::vector<Value> outputs_;
};

class MadeNetwork : public Network {
 public:
  MadeNetwork(Signature signature, Act act)
      : signature_(std::move(signature)), act_(std::move(act)) {}

  std::span<const ValueInfo> inputs() const override {
    return signature_.inputs;
  }
  std::span<const ValueInfo> outputs() const override {
    return signature_.outputs;
  }
  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    ASSAY_RETURN_IF_ERROR(
        CheckBind(signature_.inputs, signature_.outputs, inputs, outputs));
    Tensor y = Floats(std::vector<float>(kElements));
    if (!outputs.empty()) y = *outputs[0].tensor();
    return std::make_unique<MadeBinding>(*inputs[0].tensor(), std::move(y));
  }
  Status Forward(Binding& binding) override {
    act_(static_cast<MadeBinding&>(binding).bound);
    return OkStatus();
  }

 private:
  Signature signature_;
  Act act_;
};

/// A network with acts of its own for each Load.
inline StubBackend MadeBackend(std::function<Act()> make_act) {
  return StubBackend([make_act = std::move(make_act)](
                         auto model, const LoadOptions& options)
                         -> Result<std::unique_ptr<Network>> {
    ASSAY_ASSIGN_OR_RETURN(Signature signature, SignatureOf(*model, options));
    return std::make_unique<MadeNetwork>(std::move(signature), make_act());
  });
}

/// All elements of one into the other.
inline void Copy(const void* from, void* to) {
  std::memcpy(to, from, kElements * sizeof(float));
}

/// The same act for all networks.
inline StubBackend MadeOf(Act act) {
  return MadeBackend([act = std::move(act)] { return act; });
}

inline std::string FaultOf(std::span<const Value> outputs,
                           const std::vector<float>& want) {
  return FloatsOf(outputs[0]) == want ? "" : "found other numbers";
}

/// Each element another number.
inline std::vector<float> OtherNumbers() {
  std::vector<float> numbers;
  for (int i = 0; i < kElements; ++i) {
    numbers.push_back(static_cast<float>(i) + 0.5F);
  }
  return numbers;
}

/// y = -x at some numbers, and at the same in other orders.
inline TimedSubject NegativesOf(
    const std::vector<float>& numbers = OtherNumbers()) {
  TimedSubject timed;
  timed.subject.model =
      graph::ModelOfText("g (float[16] x) => (float[16] y) { y = Neg(x) }");
  const Graph& graph = timed.subject.model->graph();
  timed.kinds = draw::KindsOf(graph);
  const std::vector<Value> first = {Floats(numbers)};
  constexpr uint64_t kOwnSeed = 1'000;  // that no timer of a test has
  FreshInputs fresh(timed.kinds, graph, first, kOwnSeed);
  timed.subject.inputs = {first, Got(fresh.Next()), Got(fresh.Next())};
  for (const auto& inputs : timed.subject.inputs) {
    std::vector<float> want = FloatsOf(inputs[0]);
    for (float& number : want) number = -number;
    timed.judges.push_back([want](std::span<const Value> outputs) {
      return FaultOf(outputs, want);
    });
  }
  return timed;
}

inline record::RunFacts FactsOf(double budget_s) {
  record::RunFacts facts;
  facts.time_budget_s = budget_s;
  return facts;
}

/// Two numbers of a row may be off by so much together, relatively.
inline constexpr double kFiveDigits = 2e-4;

struct Times {
  measure::Judgement verdict;
  record::Record record = {};

  TimeRow Of(std::string_view phase) const {
    for (TimeRow& row : Got(record.Rows<TimeRow>())) {
      if (row.phase == phase) return std::move(row);
    }
    throw std::runtime_error(StrCat("no phase ", phase));
  }
};

/// A machine that is noisy all the time, or never.
inline Machine MadeMachine(bool is_noisy) {
  return {.is_noisy = [is_noisy](const Meanwhile&) { return is_noisy; }};
}

/// The verdict and the rows of the suite time on such a one.
inline Times TimesOn(const Machine& machine, Backend& backend, uint64_t seed,
                     double budget_s) {
  Times times;
  times.verdict = JudgeSubject(NegativesOf(), backend, FactsOf(budget_s), seed,
                               machine, &times.record);
  return times;
}

/// The same on one that is quiet.
inline Times TimesOf(Backend& backend, uint64_t seed = 1,
                     double budget_s = 0.2) {
  return TimesOn(MadeMachine(/*is_noisy=*/false), backend, seed, budget_s);
}

}  // namespace assay::times
