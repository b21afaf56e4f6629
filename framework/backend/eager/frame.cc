// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/frame.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <utility>

#include "framework/backend/eager/flow/flow.h"
#include "framework/backend/exception.h"
#include "framework/graph/edit/submodel.h"

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

/// Another one for each step of each binding in this process.
uint64_t NextMark() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
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
  if (IsSteady()) mark_ = NextMark();
}

/// True when each run has the same tensors.
bool StepContext::IsSteady() const {
  const auto reads = [&steady = frame_->program_.steady](ValueId id) {
    return id == kNoValue || steady[static_cast<size_t>(id)];
  };
  return std::ranges::all_of(step_->node->inputs, reads) &&
         std::ranges::all_of(outputs_, [](const OutputPlace& place) {
           return place.value == nullptr || place.callers;
         });
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
  if (tensor != nullptr && flow::Is(*tensor, dtype, shape) &&
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

StepContext::Saved& StepContext::NextSaved() {
  if (saved_count_ == saved_.size()) {
    saved_.push_back(std::make_unique<Saved>());
  }
  return *saved_[saved_count_++];
}

void StepContext::Save(Value value) {
  if (!step_->saves) return;
  Saved& saved = NextSaved();
  saved.value = std::move(value);
  saved.is_workspace = false;
}

Result<Tensor*> StepContext::Workspace(DType dtype, const Shape& shape) {
  if (!step_->saves) return static_cast<Tensor*>(nullptr);
  Saved& saved = NextSaved();
  if (saved.value.tensor() == nullptr) saved.value = Tensor();
  Tensor& tensor = *saved.value.mutable_tensor();
  ASSAY_RETURN_IF_ERROR(flow::Fit(tensor, dtype, shape));
  saved.is_workspace = true;
  return &tensor;
}

/// Lets go of what was saved by sharing, and keeps the workspaces.
void StepContext::DropSaved() {
  for (size_t i = 0; i < saved_count_; ++i) {
    if (!saved_[i]->is_workspace) saved_[i]->value = Value();
  }
  saved_count_ = 0;
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
  repeats_ = false;
  if (preparation_ != nullptr) [[unlikely]]
    return ForwardPrepared();
  return step_->kernel.forward(*this);
}

inline bool StepContext::Wrote(int64_t run) const {
  if (repeats_) return true;
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
  copies_outputs_ = !copies_.empty();
  holds_ = holds_ || copies_outputs_;
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
  for (StepContext& context : contexts_) context.DropSaved();
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
  return copies_outputs_ ? CopyOutputs() : OkStatus();
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

namespace {

constexpr size_t kNobody = std::numeric_limits<size_t>::max();

/// Prepares kernels in order, and runs what they need to know.
class Preparing {
 public:
  explicit Preparing(Frame& frame)
      : frame_(frame),
        graph_(*frame.program().graph),
        steps_(frame.program().steps),
        makers_(graph_.values.size(), kNobody),
        ran_(steps_.size(), false) {
    for (size_t i = 0; i < steps_.size(); ++i) {
      for (const ValueId id : steps_[i].node->outputs) {
        if (id != kNoValue) makers_[static_cast<size_t>(id)] = i;
      }
    }
  }

  Status Run() {
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].kernel.prepare) ASSAY_RETURN_IF_ERROR(Prepare(i));
      if (steps_[i].prepares_within) ASSAY_RETURN_IF_ERROR(Compute(i));
    }
    return OkStatus();
  }

 private:
  /// True when the value is there: nobody computes it, or its step has run.
  bool Present(ValueId id) const {
    const size_t maker = MakerOf(id);
    return maker == kNobody || ran_[maker];
  }
  size_t MakerOf(ValueId id) const { return makers_[static_cast<size_t>(id)]; }

  /// Runs a step after those that it reads from, as far as they have not run.
  Status Compute(size_t last) {
    std::vector<bool> needed(last + 1, false);
    needed[last] = !ran_[last];
    for (size_t i = last + 1; i-- > 0;) {
      if (!needed[i]) continue;
      for (const ValueId id : edit::ReadBy(*steps_[i].node)) {
        if (!Present(id)) needed[MakerOf(id)] = true;
      }
    }
    for (size_t i = 0; i <= last; ++i) {
      if (!needed[i]) continue;
      ASSAY_RETURN_IF_ERROR(frame_.RunStep(i));
      ran_[i] = true;
    }
    return OkStatus();
  }

  /// The type of a value with its extents.
  Result<ValueType> TypeOf(ValueId id) {
    if (id == kNoValue) return ValueType();
    if (Present(id)) return frame_.value(id).Type();
    const ValueType& inferred = graph_.values[static_cast<size_t>(id)].type;
    if (inferred.StaticShape().has_value()) return inferred;
    const StepContext& maker = frame_.context(MakerOf(id));
    if (maker.preparation() != nullptr) {
      const auto& outputs = maker.step().node->outputs;
      const auto at = std::ranges::find(outputs, id) - outputs.begin();
      const ValueType& declared =
          maker.preparation()->declared({static_cast<int>(at), true});
      if (declared.kind != ValueKind::kNone) return declared;
    }
    ASSAY_RETURN_IF_ERROR(Compute(MakerOf(id)));
    return frame_.value(id).Type();
  }

  Status Prepare(size_t index) {
    const Node& node = *steps_[index].node;
    std::vector<ValueType> types;
    for (const ValueId id : node.inputs) {
      ASSAY_ASSIGN_OR_RETURN(types.emplace_back(), TypeOf(id));
    }
    const auto value_of = [&](Input input) -> Result<const Tensor*> {
      const auto position = static_cast<size_t>(input.position);
      if (position >= node.inputs.size()) return nullptr;
      const ValueId id = node.inputs[position];
      if (id == kNoValue) return nullptr;
      if (!Present(id)) ASSAY_RETURN_IF_ERROR(Compute(MakerOf(id)));
      return frame_.value(id).tensor();
    };
    try {
      const Status status = frame_.context(index).Prepare(types, value_of);
      return status.ok() ? status : status.WithContext(node.Label());
    } catch (...) {
      return backend::StatusOfException(node.Label());
    }
  }

  Frame& frame_;
  const Graph& graph_;
  const std::vector<Step>& steps_;
  std::vector<size_t> makers_;  // by ValueId: the step that computes it
  std::vector<bool> ran_;       // by step
};

}  // namespace

Status Frame::Prepare() {
  if (!program_.prepares) return OkStatus();
  const Status status = Preparing(*this).Run();
  return status.code() == StatusCode::kUnsupported ? status : OkStatus();
}

}  // namespace assay::eager
