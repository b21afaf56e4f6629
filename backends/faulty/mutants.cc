// SPDX-License-Identifier: Apache-2.0

#include "backends/faulty/mutants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/reference/codec.h"

namespace assay::faulty {
namespace {

using reference::Decode;
using reference::Encode;
using reference::ScalarOf;

bool HasNumbers(const Tensor& tensor) {
  return ScalarOf(tensor.dtype()) != reference::ScalarKind::kNone;
}

/// The tensors inside a value, each replaced by change(tensor); what is no
/// tensor, sequence or optional stays.
template <class Change>
Result<Value> MapTensors(const Value& value, Change change) {
  if (const Tensor* tensor = value.tensor()) {
    ASSAY_ASSIGN_OR_RETURN(Tensor changed, change(*tensor));
    return Value(std::move(changed));
  }
  if (const Sequence* sequence = value.sequence()) {
    Sequence changed{sequence->element, {}};
    for (const Value& item : sequence->items) {
      ASSAY_ASSIGN_OR_RETURN(Value next, MapTensors(item, change));
      changed.items.push_back(std::move(next));
    }
    return Value(std::move(changed));
  }
  if (const Optional* optional = value.optional();
      optional != nullptr && optional->has_value()) {
    ASSAY_ASSIGN_OR_RETURN(Value inner, MapTensors(*optional->value, change));
    return Value(Optional{optional->element,
                          std::make_shared<const Value>(std::move(inner))});
  }
  return value;
}

/// A copy with the middle element replaced: the mutant that is hardest to see.
template <class Replace>
Result<Tensor> WithMiddle(const Tensor& tensor, Replace replace) {
  ASSAY_ASSIGN_OR_RETURN(Tensor copy, tensor.Clone());
  if (copy.num_elements() == 0) return copy;
  const auto middle = static_cast<size_t>(copy.num_elements() / 2);
  if (copy.dtype() == DType::kString) {
    copy.mutable_strings()[middle] += "?";
  } else if (HasNumbers(copy)) {
    std::vector<double> values(static_cast<size_t>(copy.num_elements()));
    Decode(copy, values.data());
    replace(values[middle]);
    Encode(values.data(), copy);
  }
  return copy;
}

// Beyond any tolerance of the corpus, in every type and also in place of
// infinity and NaN: both numbers are exact in the narrowest floats.
Result<Value> CorruptValue(const Value& right, const Value&) {
  return MapTensors(right, [](const Tensor& tensor) {
    if (tensor.dtype() == DType::kBool) {
      return WithMiddle(tensor, [](double& x) { x = x == 0 ? 1 : 0; });
    }
    return WithMiddle(tensor,
                      [](double& x) { x = std::abs(x) < 1 ? 2 : 0.25; });
  });
}

// The same bytes under one axis more.
Result<Value> CorruptShape(const Value& right, const Value&) {
  return MapTensors(right, [](const Tensor& tensor) -> Result<Tensor> {
    std::vector<int64_t> dims = tensor.shape().dims();
    dims.insert(dims.begin(), 1);
    ASSAY_ASSIGN_OR_RETURN(Tensor copy, tensor.Clone());
    return copy.Reshape(Shape(std::move(dims)));
  });
}

// The same numbers in another type.
Result<Value> CorruptType(const Value& right, const Value&) {
  return MapTensors(right, [](const Tensor& tensor) -> Result<Tensor> {
    const DType type =
        IsFloatingPoint(tensor.dtype()) ? DType::kFloat64 : DType::kInt64;
    const DType other = tensor.dtype() != type    ? type
                        : type == DType::kFloat64 ? DType::kFloat32
                                                  : DType::kInt32;
    ASSAY_ASSIGN_OR_RETURN(Tensor wrong,
                           Tensor::Allocate(other, tensor.shape()));
    if (HasNumbers(tensor)) {
      std::vector<double> values(static_cast<size_t>(tensor.num_elements()));
      Decode(tensor, values.data());
      Encode(values.data(), wrong);
    }
    return wrong;
  });
}

// One NaN; types without NaN stay right.
Result<Value> CorruptToNan(const Value& right, const Value&) {
  return MapTensors(right, [](const Tensor& tensor) -> Result<Tensor> {
    if (!IsFloatingPoint(tensor.dtype())) return tensor.Clone();
    return WithMiddle(tensor, [](double& x) {
      x = std::numeric_limits<double>::quiet_NaN();
    });
  });
}

Result<Value> CorruptToZeros(const Value& right, const Value&) {
  return MapTensors(right, [](const Tensor& tensor) {
    return Tensor::Allocate(tensor.dtype(), tensor.shape());
  });
}

// What the last network gave, where it would fit: a buffer never written.
Result<Value> CorruptToStale(const Value& right, const Value& previous) {
  const Tensor* old = previous.tensor();
  const Tensor* now = right.tensor();
  if (old == nullptr || now == nullptr || old->dtype() != now->dtype() ||
      old->shape() != now->shape()) {
    return CorruptToZeros(right, previous);
  }
  return previous;
}

bool HasOneOf(const Graph& graph, std::initializer_list<std::string_view> ops) {
  return std::ranges::any_of(graph.nodes, [&](const Node& node) {
    return std::ranges::find(ops, node.op_type) != ops.end();
  });
}

/// The inputs with the first one's numbers replaced.
template <class Replace>
Result<std::vector<Value>> WithFirst(std::span<const Value> inputs,
                                     Replace replace) {
  std::vector<Value> fed(inputs.begin(), inputs.end());
  const Tensor* first = fed.empty() ? nullptr : fed[0].tensor();
  if (first == nullptr || !IsFloatingPoint(first->dtype())) return fed;
  std::vector<double> values(static_cast<size_t>(first->num_elements()));
  Decode(*first, values.data());
  std::ranges::transform(values, values.begin(), replace);
  ASSAY_ASSIGN_OR_RETURN(Tensor changed, first->Clone());
  Encode(values.data(), changed);
  fed[0] = std::move(changed);
  return fed;
}

// Also of ONNX's expansion of Bernoulli, which compares uniform numbers.
Result<std::vector<Value>> FeedGreaterChances(const Graph& graph,
                                              std::span<const Value> inputs) {
  if (!HasOneOf(graph, {"Bernoulli", "RandomUniformLike"})) {
    return FeedAsIs(graph, inputs);
  }
  return WithFirst(inputs, [](double p) { return std::min(p + 0.05, 1.0); });
}

// What is scaled by 1 / (1 - ratio) in training comes out as it went in.
Result<std::vector<Value>> FeedUnscaled(const Graph& graph,
                                        std::span<const Value> inputs) {
  if (!HasOneOf(graph, {"Dropout"}) || inputs.size() < 3) {
    return FeedAsIs(graph, inputs);
  }
  const Tensor* ratio = inputs[1].tensor();
  const Tensor* training = inputs[2].tensor();
  if (ratio == nullptr || ratio->num_elements() != 1 || training == nullptr ||
      training->num_elements() != 1 || !training->elements<bool>()[0]) {
    return FeedAsIs(graph, inputs);
  }
  double dropped = 0;
  Decode(*ratio, &dropped);
  return WithFirst(inputs, [=](double x) { return x * (1 - dropped); });
}

constexpr std::array<Mutant, 10> kMutants = {{
    {"value", "one element is off by more than any tolerance", CorruptValue},
    {"shape", "the shape has one axis too many", CorruptShape},
    {"dtype", "the element type is another", CorruptType},
    {"nan", "one element is NaN", CorruptToNan},
    {"zeros", "nothing was computed", CorruptToZeros},
    {"stale", "the output is that of the network before", CorruptToStale},
    {.name = "bernoulli_p_plus_0.05",
     .defect = "every probability is 0.05 greater",
     .feed = FeedGreaterChances},
    {.name = "constant_mask",
     .defect = "every draw is the same",
     .seeds = SeedFault::kConstant},
    {.name = "dropout_unscaled",
     .defect = "what is kept in training is not scaled",
     .feed = FeedUnscaled},
    {.name = "seed_ignored",
     .defect = "equal seeds draw differently",
     .seeds = SeedFault::kIgnored},
}};

}  // namespace

Result<Value> CorruptNothing(const Value& right, const Value&) { return right; }

Result<std::vector<Value>> FeedAsIs(const Graph&,
                                    std::span<const Value> inputs) {
  return std::vector<Value>(inputs.begin(), inputs.end());
}

std::span<const Mutant> Mutants() { return kMutants; }

const Mutant* FindMutant(std::string_view name) {
  const auto* found =
      std::ranges::find(kMutants, name, [](const Mutant& m) { return m.name; });
  return found == kMutants.end() ? nullptr : found;
}

}  // namespace assay::faulty
