// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/distribution/distribution_law.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "framework/metric/element.h"

namespace assay::distribution {
namespace {

/// Operators that draw numbers of a law that is not read here.
constexpr std::string_view kUnknown[] = {"Multinomial", "RandomNormal",
                                         "RandomNormalLike"};

Status Unknown(const std::string& why) {
  return Unsupported(Reason::kValue,
                     "draws random numbers whose law is not known: ", why);
}

template <class T>
T AttributeOr(const Node& node, std::string_view name, T otherwise) {
  const Attribute* attribute = node.Find(name);
  if (attribute == nullptr) return otherwise;
  const T* held = std::get_if<T>(&attribute->held);
  return held == nullptr ? otherwise : *held;
}

/// Numbers uniform in [low, high), on a grid.
struct Uniform {
  int64_t count;
  double low, high;
  double step;  // relative to high - low
};

/// The law of a graph, node by node.
class LawReader {
 public:
  LawReader(const Model& model, std::span<const Value> inputs,
            const cases::Limit& limit)
      : graph_(model.graph()), limit_(limit) {
    for (size_t i = 0; i < graph_.inputs.size() && i < inputs.size(); ++i) {
      fixed_[graph_.inputs[i]] = inputs[i].tensor();
    }
    for (const Initializer& initializer : graph_.initializers) {
      fixed_[initializer.id] = initializer.value.tensor();
    }
  }

  Result<Law> Read() {
    for (const Node& node : graph_.nodes) {
      ASSAY_RETURN_IF_ERROR(ReadNode(node));
    }
    for (const ValueId id : graph_.outputs) {
      const auto found = drawn_.find(id);
      if (found == drawn_.end()) {
        return Unknown(StrCat("output ",
                              graph_.values[static_cast<size_t>(id)].name,
                              " is not drawn element by element"));
      }
      law_.outputs.push_back(found->second);
    }
    return std::move(law_);
  }

 private:
  Status ReadNode(const Node& node);
  Status ReadBernoulli(const Node& node);
  Status ReadDropout(const Node& node);
  Status ReadUniform(const Node& node);
  Status ReadComparison(const Node& node);

  /// Begins the law of the one node that draws.
  Status Start(const Node& node);
  Result<std::vector<double>> Fixed(const Node& node, size_t position) const;
  const Tensor* FixedTensor(const Node& node, size_t position) const;
  void SetZerosAndOnes(ValueId id) {
    const size_t count = law_.chances.size();
    drawn_[id] = {.off = std::vector<double>(count, 0),
                  .on = std::vector<double>(count, 1)};
  }

  const Graph& graph_;
  const cases::Limit& limit_;
  Law law_;
  std::map<ValueId, const Tensor*> fixed_;
  std::map<ValueId, Uniform> uniform_;
  std::map<ValueId, OutputLaw> drawn_;
};

ValueId At(const std::vector<ValueId>& ids, size_t position) {
  return position < ids.size() ? ids[position] : kNoValue;
}

const Tensor* LawReader::FixedTensor(const Node& node, size_t position) const {
  const auto found = fixed_.find(At(node.inputs, position));
  return found == fixed_.end() ? nullptr : found->second;
}

Result<std::vector<double>> LawReader::Fixed(const Node& node,
                                             size_t position) const {
  const Tensor* tensor = FixedTensor(node, position);
  if (tensor == nullptr) {
    return Unknown(StrCat("input ", position, " of ", node.Label(),
                          " is not fixed by the model or the case"));
  }
  return NumbersOf(*tensor);
}

Status LawReader::Start(const Node& node) {
  if (!law_.name.empty()) {
    return Unknown(StrCat("it has both ", law_.name, " and ", node.op_type));
  }
  law_.name = node.op_type;
  law_.seeded = node.Find("seed") != nullptr;
  return OkStatus();
}

// Bernoulli-22: 1 with the probability that the input gives, else 0.
Status LawReader::ReadBernoulli(const Node& node) {
  ASSAY_RETURN_IF_ERROR(Start(node));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> p, Fixed(node, 0));
  for (const double one : p) {
    if (!(one >= 0 && one <= 1)) {
      return InvalidArgument("a probability is ", one, ", wanted [0, 1]");
    }
    law_.chances.push_back({one, one});
  }
  SetZerosAndOnes(At(node.outputs, 0));
  return OkStatus();
}

// Dropout-22 in training: kept with probability 1 - ratio, and then scaled by
// 1 / (1 - ratio); the mask says which.
Status LawReader::ReadDropout(const Node& node) {
  ASSAY_RETURN_IF_ERROR(Start(node));
  const Tensor* training = FixedTensor(node, 2);
  if (training == nullptr || training->dtype() != DType::kBool ||
      training->num_elements() != 1 || !training->elements<bool>()[0]) {
    return Unknown("training_mode of Dropout is not fixed to true");
  }
  std::vector<double> ratio = {0.5};
  if (At(node.inputs, 1) != kNoValue) {
    ASSAY_ASSIGN_OR_RETURN(ratio, Fixed(node, 1));
  }
  if (ratio.size() != 1 || !(ratio.front() >= 0 && ratio.front() < 1)) {
    return InvalidArgument("ratio has ", ratio.size(),
                           " elements, wanted one in [0, 1)");
  }
  const double kept = 1 - ratio.front();
  OutputLaw data;
  ASSAY_ASSIGN_OR_RETURN(data.on, Fixed(node, 0));
  data.off.assign(data.on.size(), 0);
  const DType type = FixedTensor(node, 0)->dtype();
  for (double& x : data.on) {
    x /= kept;
    if (!(std::abs(x) <= metric::RangeOf(type).greatest)) {
      return Unknown(StrCat("an element of Dropout's data is not finite in ",
                            ToString(type), " when scaled"));
    }
  }
  data.rtol =
      std::max(limit_.rtol, std::ldexp(1.0, 1 - metric::RangeOf(type).digits));
  data.atol = limit_.atol;
  law_.chances.assign(data.on.size(), {kept, kept});
  if (const ValueId mask = At(node.outputs, 1); mask != kNoValue) {
    SetZerosAndOnes(mask);
  }
  drawn_[At(node.outputs, 0)] = std::move(data);
  return OkStatus();
}

// RandomUniform-22 and RandomUniformLike-22. Numbers of a type lie on a grid,
// and some generators fill fewer digits than the type has: two steps of it.
Status LawReader::ReadUniform(const Node& node) {
  ASSAY_RETURN_IF_ERROR(Start(node));
  DType type = DType::kFloat32;
  Shape shape;
  if (node.op_type == "RandomUniformLike") {
    const Tensor* like = FixedTensor(node, 0);
    if (like == nullptr) return Unknown("the shape to draw is not fixed");
    type = like->dtype();
    shape = like->shape();
  } else {
    shape = Shape(AttributeOr(node, "shape", std::vector<int64_t>()));
  }
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, shape.NumElements());
  type = DTypeFromOnnx(static_cast<int>(AttributeOr(
                           node, "dtype", static_cast<int64_t>(type))))
             .value_or(type);
  uniform_[At(node.outputs, 0)] = {
      .count = count,
      .low = AttributeOr(node, "low", 0.0F),
      .high = AttributeOr(node, "high", 1.0F),
      .step = std::ldexp(1.0, -metric::RangeOf(type).digits)};
  return OkStatus();
}

Chance Blurred(double p, double step) {
  return {std::max(p - step, 0.0), std::min(p + step, 1.0)};
}

// Reads a comparison of a uniform number with a fixed one.
Status LawReader::ReadComparison(const Node& node) {
  const bool uniform_first = uniform_.contains(At(node.inputs, 0));
  const auto found = uniform_.find(At(node.inputs, uniform_first ? 0 : 1));
  if (found == uniform_.end()) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> bounds,
                         Fixed(node, uniform_first ? 1 : 0));
  const auto& [count, low, high, step] = found->second;
  if (static_cast<int64_t>(bounds.size()) != count) {
    return Unknown(StrCat(node.Label(), " compares ", count,
                          " random numbers with ", bounds.size()));
  }
  if (!law_.chances.empty()) {
    return Unknown(StrCat(node.Label(), " is a second comparison"));
  }
  const bool wants_greater =
      node.op_type.starts_with("Greater") == uniform_first;
  for (const double bound : bounds) {
    const double below = std::clamp((bound - low) / (high - low), 0.0, 1.0);
    const double p = wants_greater ? 1 - below : below;
    // Beyond the grid on either side nothing is left to chance.
    const bool beyond = bound < low || bound > high;
    law_.chances.push_back(beyond ? Chance{p, p} : Blurred(p, step));
  }
  SetZerosAndOnes(At(node.outputs, 0));
  return OkStatus();
}

Status LawReader::ReadNode(const Node& node) {
  const std::string& op = node.op_type;
  if (!node.domain.empty()) return OkStatus();
  if (op == "Bernoulli") return ReadBernoulli(node);
  if (op == "Dropout") return ReadDropout(node);
  if (op == "RandomUniform" || op == "RandomUniformLike") {
    return ReadUniform(node);
  }
  if (std::ranges::find(kUnknown, op) != std::end(kUnknown)) return Start(node);
  if (op.starts_with("Greater") || op.starts_with("Less")) {
    return ReadComparison(node);
  }
  const auto from = drawn_.find(At(node.inputs, 0));
  if (from == drawn_.end()) return OkStatus();
  OutputLaw passed = from->second;
  // Only zeros and ones are exact; they are so in every type of numbers.
  const bool is_truth = passed.rtol == 0;
  if (op == "Not") {
    std::swap(passed.off, passed.on);
  } else if (op != "Identity" && !(op == "Cast" && is_truth)) {
    return OkStatus();
  }
  drawn_[At(node.outputs, 0)] = std::move(passed);
  return OkStatus();
}

template <class T>
std::vector<double> Converted(const Tensor& tensor) {
  const auto elements = tensor.elements<T>();
  return {elements.begin(), elements.end()};
}

double NumberAt(const Tensor& tensor, int64_t index) {
  const DType type = tensor.dtype();
  const uint64_t bits = metric::ElementBits(type, tensor.data(), index);
  if (IsFloatingPoint(type)) return metric::DecodeFloat(type, bits);
  if (ClassOf(type) != DTypeClass::kSigned) return static_cast<double>(bits);
  const int unused = 64 - BitsOf(type);
  return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
}

}  // namespace

Result<std::vector<double>> NumbersOf(const Tensor& tensor) {
  const DTypeClass kind = ClassOf(tensor.dtype());
  if (kind == DTypeClass::kNone || kind == DTypeClass::kString ||
      kind == DTypeClass::kComplex) {
    return InvalidArgument("found ", tensor.Signature(),
                           ", wanted real numbers");
  }
  if (tensor.dtype() == DType::kFloat32) return Converted<float>(tensor);
  if (tensor.dtype() == DType::kFloat64) return Converted<double>(tensor);
  std::vector<double> numbers(static_cast<size_t>(tensor.num_elements()));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = NumberAt(tensor, static_cast<int64_t>(i));
  }
  return numbers;
}

Result<Law> LawOf(const Model& model, std::span<const Value> inputs,
                  const cases::Limit& limit) {
  return LawReader(model, inputs, limit).Read();
}

}  // namespace assay::distribution
