// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/run/trial.h"

#include <algorithm>
#include <utility>

#include "framework/testing/record/record.h"
#include "gradcheck/case/subject.h"

namespace assay::gradcheck {
namespace {

constexpr size_t kBytesAtOnce = size_t{1} << 20;  // of inputs of several runs

/// Adds the time of a call to `us`.
template <class Call>
auto Timed(int64_t& us, Call&& call) {
  const int64_t began = record::SteadyMicroseconds();
  auto result = std::forward<Call>(call)();
  us += record::SteadyMicroseconds() - began;
  return result;
}

/// Makes copies in guarded memory.
Status Guard(std::span<const Value> values, std::vector<Value>* given,
             std::vector<measure::GuardedTensor>* guards) {
  given->assign(values.begin(), values.end());
  for (Value& value : *given) {
    if (!value.present() || value.tensor()->byte_size() == 0) continue;
    ASSAY_ASSIGN_OR_RETURN(auto guarded,
                           measure::GuardedTensor::CopyOf(*value.tensor()));
    value = guarded.tensor();
    guards->push_back(std::move(guarded));
  }
  return OkStatus();
}

/// Each target has a tensor.
Status FaultOf(std::span<const Value> gradients,
               std::span<const std::string> targets) {
  if (gradients.size() != targets.size()) {
    return Internal("Backward gave ", gradients.size(), " gradients for ",
                    targets.size(), " targets");
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    if (gradients[i].tensor() == nullptr) {
      return Internal("Backward gave no tensor for '", targets[i], "'");
    }
  }
  return OkStatus();
}

}  // namespace

Result<Trial> Trial::Load(Backend& backend, const suite::Subject& subject) {
  Trial trial;
  trial.subject_ = &subject;
  trial.backend_ = &backend;
  LoadOptions options;
  options.gradient_targets = subject.targets;
  auto network = Timed(trial.load_us_,
                       [&] { return backend.Load(subject.model, options); });
  ASSAY_ASSIGN_OR_RETURN(trial.network_, std::move(network));
  if (trial.network_ == nullptr ||
      trial.network_->differentiable() == nullptr) {
    return Internal("Load took gradient targets and offers no Differentiable");
  }
  const Graph& graph = subject.model->graph();
  for (const std::string& target : subject.targets) {
    const auto at = std::ranges::find(graph.inputs, graph.FindValue(target));
    if (at == graph.inputs.end()) break;
    trial.places_.push_back(static_cast<size_t>(at - graph.inputs.begin()));
  }
  ASSAY_RETURN_IF_ERROR(trial.Bind());
  return trial;
}

Status Trial::Bind() {
  const Graph& graph = subject_->model->graph();
  inputs_ = subject_->inputs[0];
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Tensor* const tensor = inputs_[i].tensor();
    if (tensor == nullptr || tensor->byte_size() == 0 ||
        tensor->dtype() == DType::kString) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(auto guarded,
                           measure::GuardedTensor::CopyOf(*tensor));
    inputs_[i] = guarded.tensor();
    guards_.push_back(std::move(guarded));
    guarded_.push_back(i < graph.inputs.size()
                           ? StrCat("input '", graph[graph.inputs[i]].name, "'")
                           : StrCat("input ", i));
  }
  ASSAY_ASSIGN_OR_RETURN(binding_, network_->Bind(inputs_, {}));
  if (binding_ == nullptr) return Internal("the backend bound nothing");
  return OkStatus();
}

Status Trial::Forward() {
  ++n_forward_;
  return Timed(forward_us_, [&]() -> Status {
    ASSAY_RETURN_IF_ERROR(network_->Forward(*binding_));
    return network_->Synchronize();
  });
}

Result<std::vector<Value>> Trial::Directions(Cotangent kind,
                                             const GradientCase& c) const {
  std::vector<Shape> shapes;
  for (const Value& y : outputs()) {
    shapes.push_back(y.tensor() == nullptr ? Shape() : y.tensor()->shape());
  }
  return CotangentsOf(kind,
                      CotangentBits(*subject_->model, c.variant.input_class),
                      shapes, c.Drawn(ToString(kind)));
}

DType Trial::Accumulator(const GradientCase& c) const {
  const Placement* const placement = network_->placement();
  if (placement != nullptr) {
    const std::vector<PlacedNode> placed = placement->Placed();
    if (std::ranges::any_of(placed, [](const PlacedNode& node) {
          return !node.function.empty();
        })) {
      return c.variant.type;
    }
  }
  return AccumulatorOf(c.row, subject_->model->graph(), c.variant.type);
}

bool Trial::IsInDouble() const {
  if (!FeedsTargets()) return false;
  const auto in_double = [](const Value& value) {
    return value.tensor() != nullptr &&
           value.tensor()->dtype() == DType::kFloat64;
  };
  const std::vector<bool> carries = CarryingOutputs(*subject_->model);
  for (size_t i = 0; i < carries.size(); ++i) {
    if (carries[i] && !in_double(outputs()[i])) return false;
  }
  return std::ranges::all_of(
      places_, [&](size_t place) { return in_double(inputs_[place]); });
}

Result<std::vector<Value>> Trial::InTypes(
    std::span<const Value> cotangents) const {
  std::vector<Value> typed(cotangents.size());
  for (size_t i = 0; i < cotangents.size(); ++i) {
    if (!cotangents[i].present()) continue;
    const Tensor* const y =
        i < outputs().size() ? outputs()[i].tensor() : nullptr;
    const Tensor& dy = *cotangents[i].tensor();
    if (y == nullptr || y->shape() != dy.shape()) {
      return Internal("output ", i, " is no tensor of shape ",
                      dy.shape().ToString());
    }
    ASSAY_ASSIGN_OR_RETURN(
        typed[i], TensorOf(y->dtype(), y->shape(), dy.elements<double>()));
  }
  return typed;
}

Result<std::vector<Value>> Trial::Backward(
    std::span<const Value> cotangents, std::span<const std::string> targets) {
  const host::BackwardAsk ask = {cotangents, targets};
  return std::move(BackwardEach({&ask, 1})[0].gradients);
}

std::vector<host::Pulled> Trial::BackwardEach(
    std::span<const host::BackwardAsk> asks) {
  std::vector<std::vector<Value>> right(asks.size());
  std::vector<std::vector<Value>> given(asks.size());
  std::vector<measure::GuardedTensor> guards;
  std::vector<host::BackwardAsk> guarded;
  for (size_t i = 0; i < asks.size(); ++i) {
    Result<std::vector<Value>> typed = InTypes(asks[i].cotangents);
    if (!typed.ok()) return {{typed.status()}};
    right[i] = *std::move(typed);
    const Status status = Guard(right[i], &given[i], &guards);
    if (!status.ok()) return {{status}};
    guarded.push_back({given[i], asks[i].targets});
  }
  auto all = host::BackwardEach(*network_, *binding_, guarded);
  for (size_t i = 0; i < all.size(); ++i) {
    ++n_backward_;
    backward_ += all[i].took;
    if (!all[i].gradients.ok()) break;
    const Status fault = FaultOf(*all[i].gradients, asks[i].targets);
    if (!fault.ok()) all[i].gradients = fault;
    for (size_t k = 0; k < given[i].size() && damage_.empty(); ++k) {
      if (given[i][k].present() &&
          !measure::SameBits(given[i][k], right[i][k])) {
        damage_ = StrCat("Backward wrote into cotangent ", k);
      }
    }
  }
  for (const auto& guard : guards) {
    if (damage_.empty() && !guard.Damage().empty()) {
      damage_ = StrCat("Backward wrote ", guard.Damage(), " of a cotangent");
    }
  }
  return all;
}

Result<std::vector<double>> Trial::NumbersOf(size_t target) const {
  return gradcheck::NumbersOf(*inputs_[PlaceOf(target)].tensor());
}

Status Trial::Put(size_t target, std::span<const double> numbers) {
  Tensor tensor = *inputs_[PlaceOf(target)].tensor();
  ASSAY_ASSIGN_OR_RETURN(const Tensor typed,
                         TensorOf(tensor.dtype(), tensor.shape(), numbers));
  if (tensor.byte_size() > 0) {
    std::ranges::copy(typed.bytes(), tensor.mutable_data());
  }
  return OkStatus();
}

Status Trial::ForwardEach(
    std::span<const std::vector<std::vector<double>>> runs,
    const host::SeesRun& sees) {
  std::vector<Value> memory;
  size_t bytes = 1;
  for (const size_t place : places_) {
    memory.push_back(inputs_[place]);
    bytes += static_cast<size_t>(memory.back().tensor()->byte_size());
  }
  const size_t at_once = std::max<size_t>(1, kBytesAtOnce / bytes);
  for (size_t done = 0; done < runs.size(); done += at_once) {
    std::vector<std::vector<Value>> some;
    for (const auto& run :
         runs.subspan(done, std::min(at_once, runs.size() - done))) {
      std::vector<Value>& values = some.emplace_back();
      for (size_t t = 0; t < memory.size(); ++t) {
        const Tensor& tensor = *memory[t].tensor();
        ASSAY_ASSIGN_OR_RETURN(
            values.emplace_back(),
            TensorOf(tensor.dtype(), tensor.shape(), run[t]));
      }
    }
    n_forward_ += std::ssize(some);
    ASSAY_RETURN_IF_ERROR(Timed(forward_us_, [&] {
      return host::RunEach(*network_, *binding_, {memory, some}, sees);
    }));
  }
  return OkStatus();
}

Result<std::vector<Value>> Trial::Others() const {
  std::vector<Value> others = subject_->inputs[0];
  for (size_t t = 0; t < places_.size(); ++t) {
    const Tensor& tensor = *others[places_[t]].tensor();
    std::vector<double> numbers = gradcheck::NumbersOf(tensor);
    std::ranges::reverse(numbers);
    ASSAY_ASSIGN_OR_RETURN(others[places_[t]],
                           TensorOf(tensor.dtype(), tensor.shape(), numbers));
  }
  return others;
}

Status Trial::ForwardOf(std::span<const Value> inputs) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Tensor* const tensor = inputs[i].tensor();
    // Strings are bound as they are.
    if (tensor == nullptr || tensor->byte_size() == 0 ||
        tensor->dtype() == DType::kString) {
      continue;
    }
    std::ranges::copy(tensor->bytes(),
                      inputs_[i].mutable_tensor()->mutable_data());
  }
  return Forward();
}

Status Trial::ForwardOfOthers() {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> others, Others());
  return ForwardOf(others);
}

Status Trial::ForwardOfOtherBinding() {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> others, Others());
  ++n_forward_;
  ASSAY_ASSIGN_OR_RETURN(auto first, host::BindAndRun(*network_, others, {}));
  if (first.binding == nullptr) return Internal("the backend bound nothing");
  second_ = std::move(first.binding);
  return first.status;
}

Result<std::unique_ptr<GradientBinding>> Trial::BindBackward(
    std::span<const Value> cotangents, std::span<const Value> gradients) {
  auto bound = network_->differentiable()->BindBackward(*binding_, cotangents,
                                                        targets(), gradients);
  if (bound.ok() && *bound == nullptr) {
    return Internal("BindBackward bound nothing");
  }
  return bound;
}

Status Trial::RunBackward(GradientBinding& bound) {
  ++n_backward_;
  const auto began = std::chrono::steady_clock::now();
  const Status ran = network_->differentiable()->RunBackward(bound);
  backward_ += std::chrono::steady_clock::now() - began;
  return ran;
}

std::string Trial::Damage() const {
  if (!damage_.empty()) return damage_;
  for (size_t i = 0; i < guards_.size(); ++i) {
    if (const std::string what = guards_[i].Damage(); !what.empty()) {
      return StrCat(guarded_[i], ": ", what);
    }
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].tensor() != nullptr &&
        !measure::SameBits(inputs_[i], subject_->inputs[0][i])) {
      return StrCat("input ", i, " has other elements than it was given");
    }
  }
  return "";
}

}  // namespace assay::gradcheck
