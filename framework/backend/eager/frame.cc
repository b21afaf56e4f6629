// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/frame.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "framework/backend/exception.h"

namespace assay::inline v1 {

const Tensor KernelContext::kNoTensor;
const Value KernelContext::kAbsent;

}  // namespace assay::inline v1

namespace assay::eager {

namespace {

Status WrongMemory(const OutputPlace& place, const std::string& computed) {
  return InvalidArgument("output '", place.name, "' is computed as ", computed,
                         ", the caller's memory is ",
                         place.value->Type().ToString());
}

}  // namespace

Status Store(const Value& value, OutputPlace& place) {
  if (!place.callers) {
    *place.value = value;
    return OkStatus();
  }
  Tensor& to = *place.value->mutable_tensor();
  const Tensor* from = value.tensor();
  if (from == nullptr || from->dtype() != to.dtype() ||
      from->shape() != to.shape()) {
    return WrongMemory(place, value.Type().ToString());
  }
  if (from->dtype() == DType::kString) {
    std::ranges::copy(from->strings(), to.mutable_strings().begin());
  } else if (from->byte_size() > 0) {
    std::memmove(to.mutable_data(), from->data(), from->bytes().size());
  }
  return OkStatus();
}

StepContext::StepContext(Step& step, Frame& frame)
    : step_(&step), frame_(&frame), output_count_(step.node->outputs.size()) {
  const Graph& graph = *frame.program_.graph;
  for (const ValueId id : step.node->inputs) {
    inputs_.push_back(id == kNoValue ? &kAbsent
                                     : frame.places_[static_cast<size_t>(id)]);
  }
  for (const ValueId id : step.node->outputs) {
    OutputPlace& place = outputs_.emplace_back();
    if (id == kNoValue) continue;
    const auto at = static_cast<size_t>(id);
    place.value = frame.places_[at];
    place.name = graph.values[at].name;
    place.callers = frame.callers_[at];
  }
  for (Body& body : step.bodies) {
    bodies_.push_back(
        std::make_unique<Frame>(*body.program, &frame, std::span<Value>()));
  }
  if (step.part != nullptr) {
    part_ =
        std::make_unique<Frame>(step.part->program, &frame, std::span<Value>());
  }
  if (step.kernel.prepare) preparation_ = std::make_unique<Preparation>();
}

inline OutputPlace* StepContext::Find(assay::Output output) {
  const auto position = static_cast<size_t>(output.position);
  if (position >= output_count_) return nullptr;
  OutputPlace& place = outputs_[position];
  return place.value == nullptr ? nullptr : &place;
}

Result<Tensor*> StepContext::Output(assay::Output output, DType dtype,
                                    const Shape& shape) {
  OutputPlace* const place = Find(output);
  if (place == nullptr) return static_cast<Tensor*>(nullptr);
  place->written = frame_->run_;
  Tensor* const tensor = place->value->mutable_tensor();
  if (tensor != nullptr && tensor->dtype() == dtype &&
      SameExtents(tensor->shape(), shape) &&
      (place->callers || tensor->unique())) [[likely]] {
    return tensor;
  }
  return Allocate(*place, dtype, shape);
}

Result<Tensor*> StepContext::Allocate(OutputPlace& place, DType dtype,
                                      const Shape& shape) {
  if (place.callers) {
    return WrongMemory(place, StrCat(dtype, shape.ToString()));
  }
  *place.value = Value();  // so that old and new are not held at once
  ASSAY_ASSIGN_OR_RETURN(*place.value, Tensor::Allocate(dtype, shape));
  return place.value->mutable_tensor();
}

Status StepContext::SetOutput(assay::Output output, Value value) {
  OutputPlace* const place = Find(output);
  if (place == nullptr) return OkStatus();
  place->written = frame_->run_;
  if (!place->callers) {
    frame_->shared_.push_back(place->value);
    frame_->holds_ = true;
  }
  return Store(value, *place);
}

Result<std::vector<Value>> StepContext::Run(std::string_view attribute,
                                            std::span<const Value> inputs) {
  for (size_t i = 0; i < bodies_.size(); ++i) {
    if (step_->bodies[i].attribute != attribute) continue;
    Result<std::vector<Value>> outputs = bodies_[i]->Call(inputs);
    if (outputs.ok()) return outputs;
    return outputs.status().WithContext(attribute);
  }
  return InvalidArgument("there is no subgraph '", attribute, "'");
}

Result<std::vector<Value>> StepContext::Differentiate(
    std::span<const Value> inputs) {
  if (part_ != nullptr) return step_->part->Differentiate(*part_, inputs);
  return FailedPrecondition("the kernel names no part of the graph");
}

void StepContext::Save(Value value) {
  if (step_->saves) saved_.push_back(std::move(value));
}

Status StepContext::Prepare(std::span<const ValueType> types,
                            const Preparation::ValueOf& value_of) {
  const Status status =
      preparation_->Make(step_->kernel.prepare, types, value_of);
  prepared_ = preparation_->made();
  return status;
}

/// For the values of this run.
Status StepContext::PrepareAgain() {
  std::vector<ValueType> types;
  for (const Value* value : inputs_) types.push_back(value->Type());
  return Prepare(types, [this](Input input) -> Result<const Tensor*> {
    return value(input).tensor();
  });
}

Status StepContext::ForwardPrepared() {
  if (!preparation_->Fits(*this)) ASSAY_RETURN_IF_ERROR(PrepareAgain());
  return step_->kernel.forward(*this);
}

inline Status StepContext::Forward() {
  if (preparation_ != nullptr) [[unlikely]]
    return ForwardPrepared();
  return step_->kernel.forward(*this);
}

inline bool StepContext::Wrote(int64_t run) const {
  for (const OutputPlace& place : outputs_) {
    if (place.written != run && place.value != nullptr) return false;
  }
  return true;
}

Status StepContext::Explain(const Status& status) const {
  const std::string label = step_->node->Label();
  if (!status.ok()) return status.WithContext(label);
  for (const OutputPlace& place : outputs_) {
    if (place.written == frame_->run_ || place.value == nullptr) continue;
    return Internal(label, ": the kernel did not write output '", place.name,
                    "'");
  }
  return OkStatus();
}

Frame::Frame(Program& program, Frame* outer, std::span<Value> outputs)
    : program_(program), values_(program.graph->values.size()) {
  for (Value& value : values_) places_.push_back(&value);
  callers_.assign(values_.size(), false);
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const ValueId id = program.graph->initializers[i].id;
    places_[static_cast<size_t>(id)] = &program.constants[i];
  }
  for (const Capture& capture : program.graph->captures) {
    places_[static_cast<size_t>(capture.inner)] =
        outer->places_[static_cast<size_t>(capture.outer)];
  }
  PlaceOutputs(outputs);
  // Contexts point at places, and frames of subgraphs at this frame.
  contexts_.reserve(program.steps.size());
  for (Step& step : program.steps) {
    contexts_.emplace_back(step, *this);
    holds_ = holds_ || step.saves;
  }
  holds_ = holds_ || !copies_.empty();
}

/// Lets the step that computes an output write straight to where it is wanted;
/// all other outputs are copied when the steps have run.
void Frame::PlaceOutputs(std::span<Value> outputs) {
  if (outputs.empty()) return;
  std::vector<bool> computed(values_.size(), false);
  for (const Step& step : program_.steps) {
    for (const ValueId id : step.node->outputs) {
      if (id != kNoValue) computed[static_cast<size_t>(id)] = true;
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto id = static_cast<size_t>(program_.outputs[i]);
    const bool callers = outputs[i].present();
    if (computed[id] && places_[id] == &values_[id]) {
      places_[id] = &outputs[i];
      callers_[id] = callers;
      continue;
    }
    copies_.push_back(
        {places_[id], {&outputs[i], program_.graph->values[id].name, callers}});
  }
}

void Frame::SetInput(size_t index, const Value& value) {
  *places_[static_cast<size_t>(program_.inputs[index])] = value;
}

/// Lets go of what the last run shared, so that its memory can be used again.
void Frame::Release() {
  for (Value* value : shared_) *value = Value();
  shared_.clear();
  for (Copy& copy : copies_) {
    if (!copy.to.callers) *copy.to.value = Value();
  }
  for (StepContext& context : contexts_) context.saved_.clear();
}

Status Frame::CopyOutputs() {
  for (Copy& copy : copies_) {
    ASSAY_RETURN_IF_ERROR(Store(*copy.from, copy.to));
  }
  return OkStatus();
}

// The framework's whole cost per call and per node is here and in Output.
Status Frame::Run() {
  if (holds_) Release();
  ++run_;
  complete_ = false;
  const StepContext* running = nullptr;
  try {
    for (StepContext& context : contexts_) {
      running = &context;
      const Status status = context.Forward();
      if (!status.ok() || !context.Wrote(run_)) [[unlikely]] {
        return context.Explain(status);
      }
    }
  } catch (...) {
    return backend::StatusOfException(running->step().node->Label());
  }
  complete_ = true;
  return copies_.empty() ? OkStatus() : CopyOutputs();
}

Status Frame::RunStep(size_t step) {
  StepContext& context = contexts_[step];
  try {
    return context.Explain(context.Forward());
  } catch (...) {
    return backend::StatusOfException(context.step().node->Label());
  }
}

Result<std::vector<Value>> Frame::Call(std::span<const Value> inputs) {
  if (inputs.size() != program_.inputs.size()) {
    return InvalidArgument("found ", inputs.size(), " inputs, wanted ",
                           program_.inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) SetInput(i, inputs[i]);
  ASSAY_RETURN_IF_ERROR(Run());
  std::vector<Value> outputs;
  for (const ValueId id : program_.outputs) outputs.push_back(value(id));
  return outputs;
}

}  // namespace assay::eager
