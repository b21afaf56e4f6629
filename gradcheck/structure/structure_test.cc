// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/structure/structure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/network_interfaces.h"
#include "framework/graph/model.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::gradcheck {
namespace {

using testing::HasSubstr;

/// A backend of any model whose outputs are all the square of each element of
/// its first input, in float32, has these.
struct SquareDefects {
  bool one_reader = false;   // of several only the last counts
  bool unread_ones = false;  // the gradient of an input that nobody reads
  bool other_shape = false;  // of the same
  bool declines_unread = false;
  bool declines_two = false;  // models of two nodes
  bool last_hot =
      false;  // the last element's cotangent is lost where it is alone
  bool by_place = false;  // the second example's is a tenth greater
  bool of_first = false;  // other inputs stay those of the first forward
  bool declines_bound = false;
  bool adds_one = false;          // to every gradient
  bool keeps_cotangents = false;  // of the time of binding
  bool keeps_inputs = false;      // the same
  bool adds = false;              // a bound run, to what memory holds
  bool leaves_last = false;       // a bound run leaves the last element
  bool beyond = false;            // a bound run writes behind the end
  bool as_function = false;       // no defect: runs the body of a function
};

class SquareBinding : public Binding {
 public:
  std::span<const Value> outputs() const override { return y; }
  std::vector<Value> inputs, y;
};

/// y = x * x * s, where s, if there is a second input of integers, is one
/// number for each row.
class SquareNetwork : public Network, public Differentiable, public Placement {
 public:
  SquareNetwork(SquareDefects defects, const Graph& graph) : defects_(defects) {
    for (const ValueId id : graph.inputs) inputs_.push_back(graph[id]);
    for (const ValueId id : graph.outputs) outputs_.push_back(graph[id]);
  }
  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }
  Differentiable* differentiable() override { return this; }
  Placement* placement() override { return this; }
  std::vector<PlacedNode> Placed() const override {
    return {{"square", "square", defects_.as_function ? "call" : ""}};
  }

  Result<std::unique_ptr<Binding>> Bind(std::span<const Value> inputs,
                                        std::span<const Value>) override {
    auto binding = std::make_unique<SquareBinding>();
    binding->inputs.assign(inputs.begin(), inputs.end());
    return binding;
  }

  Status Forward(Binding& bound) override {
    auto& binding = static_cast<SquareBinding&>(bound);
    const Tensor& x = *binding.inputs[0].tensor();
    const std::vector<float> scales = ScalesOf(binding.inputs);
    if (first_scales_.empty()) first_scales_ = scales;
    std::vector<float> y;
    for (const float number : x.elements<float>()) {
      y.push_back(number * number *
                  scales[y.size() * scales.size() / Count(x)]);
    }
    binding.y.assign(outputs_.size(), Floats(x.shape(), y));
    return OkStatus();
  }

  Result<std::vector<Value>> Backward(
      Binding& bound, std::span<const Value> cotangents,
      std::span<const std::string> targets) override {
    const auto& binding = static_cast<SquareBinding&>(bound);
    std::vector<Value> gradients;
    for (const std::string& target : targets) {
      gradients.emplace_back(
          target == inputs_[0].name ? OfFirst(binding, cotangents) : Unread());
    }
    return gradients;
  }

  Result<std::unique_ptr<GradientBinding>> BindBackward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets,
      std::span<const Value> gradients) override {
    if (defects_.declines_bound) return Unsupported(Reason::kGradient, "bound");
    auto bound = std::make_unique<Bound>();
    bound->binding = static_cast<SquareBinding*>(&binding);
    bound->cotangents.assign(cotangents.begin(), cotangents.end());
    if (defects_.keeps_cotangents) {
      for (Value& value : bound->cotangents) {
        if (value.present()) value = value.tensor()->Clone().value();
      }
    }
    bound->targets.assign(targets.begin(), targets.end());
    bound->results.assign(gradients.begin(), gradients.end());
    bound->kept.inputs = bound->binding->inputs;
    Value& first = bound->kept.inputs[0];
    first = first.tensor()->Clone().value();
    return std::unique_ptr<GradientBinding>(std::move(bound));
  }

  Status RunBackward(GradientBinding& given) override {
    auto& bound = static_cast<Bound&>(given);
    ASSAY_ASSIGN_OR_RETURN(
        const std::vector<Value> found,
        Backward(defects_.keeps_inputs ? bound.kept : *bound.binding,
                 bound.cotangents, bound.targets));
    for (size_t i = 0; i < found.size(); ++i) {
      const auto from = found[i].tensor()->elements<float>();
      const auto to =
          bound.results[i].mutable_tensor()->mutable_elements<float>();
      for (size_t k = 0; k < from.size(); ++k) {
        if (defects_.leaves_last && k + 1 == from.size()) break;
        to[k] = (defects_.adds && ran_ ? to[k] : 0) + from[k];
      }
      if (defects_.beyond) *(to.data() + to.size()) = 1;
    }
    ran_ = true;
    return OkStatus();
  }

 private:
  class Bound : public GradientBinding {
   public:
    std::span<const Value> gradients() const override { return results; }
    SquareBinding* binding = nullptr;
    SquareBinding kept;
    std::vector<Value> cotangents, results;
    std::vector<std::string> targets;
  };

  static size_t Count(const Tensor& tensor) {
    return static_cast<size_t>(tensor.num_elements());
  }

  static std::vector<float> ScalesOf(const std::vector<Value>& inputs) {
    std::vector<float> scales;
    if (inputs.size() > 1 && inputs[1].tensor()->dtype() == DType::kInt64) {
      for (const int64_t s : inputs[1].tensor()->elements<int64_t>()) {
        scales.push_back(static_cast<float>(s));
      }
    }
    return scales.empty() ? std::vector<float>{1} : scales;
  }

  Tensor OfFirst(const SquareBinding& binding,
                 std::span<const Value> cotangents) {
    const Tensor& x = *binding.inputs[0].tensor();
    const std::vector<float> scales =
        defects_.of_first ? first_scales_ : ScalesOf(binding.inputs);
    const auto numbers = x.elements<float>();
    std::vector<float> sum(numbers.size());
    for (const Value& dy : cotangents) {
      if (!dy.present()) continue;
      if (defects_.one_reader) std::ranges::fill(sum, 0.0F);
      const auto weights = dy.tensor()->elements<float>();
      if (defects_.last_hot &&
          std::ranges::count(weights, 0.0F) + 1 == std::ssize(weights) &&
          weights.back() != 0) {
        continue;
      }
      for (size_t i = 0; i < sum.size(); ++i) {
        const float s = scales[i * scales.size() / sum.size()];
        sum[i] += 2 * numbers[i] * weights[i] * s;
        if (defects_.by_place && i * 2 >= sum.size()) sum[i] *= 1.1F;
      }
    }
    if (defects_.adds_one) {
      for (float& number : sum) number += 1;
    }
    return Floats(x.shape(), sum);
  }

  Tensor Unread() const {
    const float number = defects_.unread_ones ? 1 : 0;
    return Floats(std::vector<float>(defects_.other_shape ? 1 : 2, number));
  }

  const SquareDefects defects_;
  std::vector<ValueInfo> inputs_, outputs_;
  std::vector<float> first_scales_;
  bool ran_ = false;
};

class SquareBackend : public StubBackend {
 public:
  explicit SquareBackend(SquareDefects defects)
      : StubBackend([defects](auto model, const LoadOptions& options)
                        -> Result<std::unique_ptr<Network>> {
          const Graph& graph = model->graph();
          const bool two = graph.nodes.size() > 1;
          const bool unread = two && options.gradient_targets.size() > 1;
          if ((two && defects.declines_two) ||
              (unread && defects.declines_unread)) {
            return Unsupported(Reason::kGradient, "declined");
          }
          return std::make_unique<SquareNetwork>(defects, graph);
        }) {}
};

constexpr double kLimit = 1e-5;

// A table of losses has rows that belong together with labels.
constexpr char kModel[] =
    "g (float[2,3] x, int64[2] s) => (float[2,3] y) "
    "{ y = SoftmaxCrossEntropyLoss<reduction = \"none\">(x, s) }";

/// The message of a check about a backend with that defect.
template <class Check>
std::string Checked(SquareDefects defects, Check&& check) {
  SquareBackend backend(defects);
  suite::Subject subject;
  subject.model = graph::ModelOfText(kModel);
  subject.inputs = {{Floats({2, 3}, {1, -2, 0.5, 3, -1, 2}), Int64s({1, 3})}};
  subject.targets = {"x"};
  Trial trial = Got(Trial::Load(backend, subject));
  EXPECT_TRUE(trial.Forward().ok());
  const std::vector<Value> dy = {Doubles({2, 3}, {1, 1.5, -1, 2, -1.25, 1})};
  const auto gradients = Got(trial.Backward(dy, trial.targets()));
  Compared compared;
  compared.limits.assign(6, kLimit);
  const std::string fault = check(
      trial, Judged{trial.targets(), dy, gradients, std::span(&compared, 1)});
  EXPECT_EQ(trial.Damage(), "");
  return fault;
}

std::string FaultOf(SquareDefects defects) {
  return Checked(defects, [](Trial& trial, const Judged& judged) {
    const auto found = StructureOf(trial, judged);
    return found.ok() ? found->fault : found.status().ToString();
  });
}

TEST(Structure, OfARightBackendHolds) {
  EXPECT_EQ(FaultOf({}), "");
  EXPECT_EQ(FaultOf({.declines_unread = true}), "");
  EXPECT_EQ(FaultOf({.declines_two = true}), "");
  EXPECT_EQ(FaultOf({.declines_bound = true}), "");
}

TEST(Structure, TellsWhatDoesNotHold) {
  const struct {
    SquareDefects defects;
    const char* fault;
  } rows[] = {
      {{.adds_one = true}, "cotangents of zeros give 1 at element 0"},
      {{.one_reader = true},
       "where each input is read by two nodes, element 0"},
      {{.one_reader = true, .declines_unread = true}, "is read by two nodes"},
      {{.unread_ones = true}, "that no node reads is 1, wanted 0"},
      {{.other_shape = true}, "that no node reads is float32[1], wanted"},
      {{.by_place = true}, "the examples of the batch in reverse order"},
      {{.of_first = true}, "the examples of the batch in reverse order"},
      {{.keeps_cotangents = true}, "bound before the last forward, element"},
      {{.keeps_inputs = true}, "bound before the last forward, element"},
      {{.adds = true}, "bound before the last forward, element 0"},
      {{.leaves_last = true}, "bound before the last forward, element 5"},
      {{.beyond = true}, "a bound backward wrote 4 bytes behind its end"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(FaultOf(row.defects), HasSubstr(row.fault)) << row.fault;
  }
}

// Kills: a row that is left out, or counts for another cotangent.
TEST(Jacobian, SumsToTheGradient) {
  const auto fault_of = [](SquareDefects defects) {
    return Checked(defects, [](Trial& trial, const Judged& judged) {
      const auto fault = JacobianFault(trial, judged);
      return fault.ok() ? fault->value_or("none") : fault.status().ToString();
    });
  };
  EXPECT_EQ(fault_of({}), "");
  EXPECT_EQ(FaultOf({.last_hot = true}), "");
  EXPECT_THAT(fault_of({.last_hot = true}),
              HasSubstr("one-hot cotangents, element 5 of the gradient"));
}

/// "1 - 0 > 2": the axes of inputs and outputs; "none".
std::string AxesText(const char* model) {
  std::vector<Value> inputs;
  const auto parsed = graph::ModelOfText(model);
  const Graph& graph = parsed->graph();
  for (const ValueId id : graph.inputs) {
    const ValueType& type = graph[id].type;
    inputs.emplace_back(*Tensor::Allocate(type.dtype, *type.StaticShape()));
  }
  const auto axes = BatchAxesOf(graph, inputs);
  if (!axes.has_value()) return "none";
  const auto text = [](int axis) {
    return axis < 0 ? std::string("-") : StrCat(axis);
  };
  return Joined(axes->inputs, " ", text) + " > " +
         Joined(axes->outputs, " ", text);
}

// Kills: weights that are taken for examples, a mask without a batch that is
// reversed, a layout that is not read, and labels that cannot be reversed.
TEST(BatchAxesOf, AreThoseOfTheOperator) {
  const struct {
    const char* model;
    const char* axes;
  } rows[] = {
      {"g (float[2,1,4] x, float[1,1,2] w) => (float[2,1,3] y) "
       "{ y = Conv(x, w) }",
       "0 - > 0"},
      {"g (float[1,1,4] x, float[1,1,2] w) => (float[1,1,3] y) "
       "{ y = Conv(x, w) }",
       "none"},
      {"g (float[2] x) => (float[2] y) { y = Relu(x) }", "none"},
      {"g (float[5,2,3] x, float[1,4,3] w, float[1,4,4] r, int32[2] l, "
       "float[1,2,4] h) => (float y) { , y = RNN<hidden_size = 4>(x, w, r, , "
       "l, h) }",
       "1 - - 0 1 > 1"},
      {"g (float[2,5,3] x, float[1,4,3] w, float[1,4,4] r) => (float y) "
       "{ y = RNN<hidden_size = 4, layout = 1>(x, w, r) }",
       "0 - - > 0"},
      {"g (float[2,3,4,8] q, float[2,3,6,8] k, float[2,3,6,8] v, float[4,6] m)"
       " => (float y) { y = Attention(q, k, v, m) }",
       "0 0 0 - > 0"},
      {"g (float[2,3,4,8] q, float[2,3,6,8] k, float[2,3,6,8] v, "
       "float[2,1,4,6] m) => (float y) { y = Attention(q, k, v, m) }",
       "0 0 0 0 > 0"},
      {"g (float[2,3] x) => (float y) <int64[2] t = {0, 2}> "
       "{ y = NegativeLogLikelihoodLoss(x, t) }",
       "none"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(AxesText(row.model), row.axes) << row.model;
  }
}

// Kills: a claim that is taken at its word where numbers are stored between the
// nodes of a function's body.
TEST(Trial, SumsInTheClaimedTypeWhereOneNodeRuns) {
  suite::Subject subject;
  subject.model =
      graph::ModelOfText("g (float[2] x) => (float[2] y) { y = Mish(x) }");
  subject.inputs = {{Floats({1, 2})}};
  subject.targets = {"x"};
  const struct {
    bool as_function;
    std::string_view claimed;
    DType sums;
  } rows[] = {{false, "float64", DType::kFloat64},
              {false, "", DType::kFloat32},
              {true, "float64", DType::kFloat32}};
  for (const auto& row : rows) {
    SquareBackend backend({.as_function = row.as_function});
    const Trial trial = Got(Trial::Load(backend, subject));
    GradientCase planned;
    planned.row.accumulator = row.claimed;
    EXPECT_EQ(trial.Accumulator(planned), row.sums)
        << row.claimed << " " << row.as_function;
  }
}

}  // namespace
}  // namespace assay::gradcheck
