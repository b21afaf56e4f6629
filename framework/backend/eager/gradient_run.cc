// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/gradient_run.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "framework/backend/exception.h"

namespace assay::eager {
namespace {

const Tensor kNothing;
const Value kAbsent;

const Tensor& TensorOf(const Value* value) {
  const Tensor* const tensor = value == nullptr ? nullptr : value->tensor();
  return tensor == nullptr ? kNothing : *tensor;
}

}  // namespace

/// One step backward.
class StepGradient final : public GradientContext {
 public:
  /// `flows`, by ValueId, has one for each value that is wanted. It and `frame`
  /// must outlive the context.
  StepGradient(const GradientPlan& plan, const GradientPlan::Taken& taken,
               const Frame& frame,
               const std::vector<std::unique_ptr<flow::Flow>>& flows);

  const Tensor& input(Input input) const override {
    const Read* const read = Find(input);
    return read == nullptr ? kNothing : TensorOf(read->value);
  }

  const Value& value(Input input) const override {
    const Read* const read = Find(input);
    return read == nullptr || read->value == nullptr ? kAbsent : *read->value;
  }

  const Tensor& output(Output output) const override {
    const Write* const write = Find(output);
    return write == nullptr ? kNothing : TensorOf(write->value);
  }

  const Value& saved(int index) const override {
    const Value* const value = step_->saved(index);
    if (value != nullptr) return *value;
    throw std::out_of_range(StrCat("forward saved no value ", index));
  }

  const Tensor* cotangent(Output output) const override {
    const Write* const write = Find(output);
    const bool flows =
        write != nullptr && write->flow != nullptr && write->flow->any();
    return flows ? &write->flow->sum() : nullptr;
  }

  bool wanted(Input input) const override {
    const Read* const read = Find(input);
    return read != nullptr && read->flow != nullptr;
  }

  Result<Tensor*> Gradient(Input input) override { return Give(input, true); }

  Result<Tensor*> GradientToWrite(Input input) override {
    return Give(input, false);
  }

  /// Runs the kernel's backward, where something flows into an output of the
  /// node, and adds what it wrote to the flows of the inputs.
  Status Run() {
    bool reached = false;
    for (const Write& write : writes_) {
      if (write.flow == nullptr || !write.flow->any()) continue;
      ASSAY_RETURN_IF_ERROR(write.flow->Finish());
      reached = true;
    }
    if (!reached) return OkStatus();
    prepared_ = step_->made();
    for (Read& read : reads_) read.given = nullptr;
    ASSAY_RETURN_IF_ERROR(step_->step().kernel.backward(*this));
    for (const Read& read : reads_) {
      if (read.given == nullptr || read.flow == nullptr) continue;
      ASSAY_RETURN_IF_ERROR(read.flow->Add(*read.given));
    }
    return OkStatus();
  }

  const Node& node() const { return *step_->step().node; }

 private:
  struct Read {
    const Value* value = nullptr;  // null: the node omits it
    flow::Flow* flow = nullptr;    // null: it is not wanted
    bool carries = false;          // it has a gradient
    Tensor* given = nullptr;       // to the kernel, in this run
    Tensor own;                    // where another writes into the flow's
  };
  struct Write {
    const Value* value = nullptr;
    flow::Flow* flow = nullptr;
  };

  const Read* Find(Input input) const {
    const auto at = static_cast<size_t>(input.position);
    return at < reads_.size() ? &reads_[at] : nullptr;
  }
  const Write* Find(Output output) const {
    const auto at = static_cast<size_t>(output.position);
    return at < writes_.size() ? &writes_[at] : nullptr;
  }

  Result<Tensor*> Give(Input input, bool cleared) {
    const auto at = static_cast<size_t>(input.position);
    const Tensor& value = this->input(input);
    if (!value.defined() || !reads_[at].carries) {
      return InvalidArgument("input ", input.position, " has no gradient");
    }
    Read& read = reads_[at];
    if (read.given != nullptr) return read.given;
    if (read.flow != nullptr && read.flow->empty()) {
      ASSAY_ASSIGN_OR_RETURN(read.given,
                             read.flow->First(value.dtype(), value.shape()));
    } else {
      ASSAY_RETURN_IF_ERROR(flow::Fit(read.own, value.dtype(), value.shape()));
      read.given = &read.own;
    }
    if (cleared && value.byte_size() > 0) {
      std::memset(read.given->mutable_data(), 0, value.bytes().size());
    }
    return read.given;
  }

  const StepContext* step_;
  std::vector<Read> reads_;    // by position
  std::vector<Write> writes_;  // by position
};

StepGradient::StepGradient(
    const GradientPlan& plan, const GradientPlan::Taken& taken,
    const Frame& frame, const std::vector<std::unique_ptr<flow::Flow>>& flows)
    : step_(&frame.context(taken.step)) {
  for (const ValueId id : taken.reads) {
    Read& read = reads_.emplace_back();
    if (id == kNoValue) continue;
    const auto at = static_cast<size_t>(id);
    read.value = &frame.value(id);
    read.flow = flows[at].get();
    read.carries = plan.carries[at];
  }
  for (const ValueId id : node().outputs) {
    Write& write = writes_.emplace_back();
    if (id == kNoValue) continue;
    write.value = &frame.value(id);
    write.flow = flows[static_cast<size_t>(id)].get();
  }
}

GradientRun::GradientRun(const GradientPlan& plan, const Frame& frame)
    : plan_(plan), frame_(frame), flows_(plan.carries.size()) {}

GradientRun::~GradientRun() = default;

Result<std::unique_ptr<GradientRun>> GradientRun::Make(
    const GradientPlan& plan, const Frame& frame,
    std::span<const Value> cotangents, std::span<const std::string> targets) {
  auto run = std::unique_ptr<GradientRun>(new GradientRun(plan, frame));
  ASSAY_RETURN_IF_ERROR(run->AddTargets(targets));
  run->AddSteps();
  ASSAY_RETURN_IF_ERROR(run->AddSeeds(cotangents));
  return run;
}

flow::Flow* GradientRun::FlowOf(ValueId id) {
  auto& flow = flows_[static_cast<size_t>(id)];
  if (flow == nullptr) {
    flow = std::make_unique<flow::Flow>();
    used_.push_back(flow.get());
  }
  return flow.get();
}

Status GradientRun::AddTargets(std::span<const std::string> targets) {
  gradients_.resize(targets.size());
  for (const std::string& name : targets) {
    const auto known = plan_.targets.find(name);
    if (known == plan_.targets.end()) {
      return InvalidArgument("'", name,
                             "' is none of the network's gradient targets");
    }
    Target target{known->second, FlowOf(known->second)};
    const auto before = std::ranges::find(targets_, target.id, &Target::id);
    if (before != targets_.end()) {
      target.same = &gradients_[static_cast<size_t>(before - targets_.begin())];
      target.flow = again_.emplace_back(std::make_unique<flow::Flow>()).get();
      used_.push_back(target.flow);
    }
    targets_.push_back(target);
  }
  return OkStatus();
}

void GradientRun::AddSteps() {
  const auto is_wanted = [this](ValueId id) {
    return id != kNoValue && flows_[static_cast<size_t>(id)] != nullptr;
  };
  std::vector<const GradientPlan::Taken*> asked;
  for (const GradientPlan::Taken& taken : plan_.steps) {
    if (std::ranges::none_of(taken.reads, is_wanted)) continue;
    asked.push_back(&taken);
    for (const ValueId id : frame_.program().steps[taken.step].node->outputs) {
      if (id != kNoValue && plan_.carries[static_cast<size_t>(id)]) FlowOf(id);
    }
  }
  steps_.reserve(asked.size());
  for (size_t i = asked.size(); i-- > 0;) {
    steps_.emplace_back(plan_, *asked[i], frame_, flows_);
  }
}

Status GradientRun::AddSeeds(std::span<const Value> cotangents) {
  const std::vector<ValueId>& outputs = frame_.program().outputs;
  if (cotangents.size() != outputs.size()) {
    return InvalidArgument("found ", cotangents.size(), " cotangents, wanted ",
                           outputs.size());
  }
  cotangents_.assign(cotangents.begin(), cotangents.end());
  for (size_t i = 0; i < cotangents.size(); ++i) {
    if (!cotangents[i].present()) continue;
    ASSAY_RETURN_IF_ERROR(CheckCotangent(i));
    flow::Flow* const flow = flows_[static_cast<size_t>(outputs[i])].get();
    if (flow != nullptr) seeds_.push_back({i, flow});
  }
  return OkStatus();
}

Status GradientRun::CheckCotangent(size_t output) const {
  const ValueId id = frame_.program().outputs[output];
  const bool carries = plan_.carries[static_cast<size_t>(id)];
  const Tensor* const found = cotangents_[output].tensor();
  const Tensor* const wanted = frame_.value(id).tensor();
  if (carries && found != nullptr && wanted != nullptr &&
      flow::Is(*found, wanted->dtype(), wanted->shape())) {
    return OkStatus();
  }
  return InvalidArgument("the cotangent of output '",
                         (*frame_.program().graph)[id].name, "' is ",
                         cotangents_[output].Type().ToString(), ", wanted ",
                         carries ? frame_.value(id).Type().ToString() : "none");
}

std::vector<ValueInfo> GradientRun::targets() const {
  std::vector<ValueInfo> infos;
  for (const Target& target : targets_) {
    infos.push_back({(*frame_.program().graph)[target.id].name,
                     frame_.value(target.id).Type()});
  }
  return infos;
}

Status GradientRun::SetMemory(std::span<const Value> gradients) {
  for (size_t i = 0; i < targets_.size(); ++i) {
    const bool callers = !gradients.empty() && gradients[i].present();
    if (callers) {
      gradients_[i] = gradients[i];
    } else {
      const Tensor& like = *frame_.value(targets_[i].id).tensor();
      ASSAY_ASSIGN_OR_RETURN(gradients_[i],
                             Tensor::Allocate(like.dtype(), like.shape()));
    }
    targets_[i].flow->LieIn(gradients_[i].mutable_tensor(), callers);
  }
  return OkStatus();
}

Status GradientRun::Run() {
  if (!frame_.complete()) {
    return FailedPrecondition("backward was called before a forward");
  }
  for (flow::Flow* const flow : used_) flow->Clear();
  for (const Seed& seed : seeds_) {
    ASSAY_RETURN_IF_ERROR(CheckCotangent(seed.output));
    ASSAY_RETURN_IF_ERROR(seed.flow->Add(*cotangents_[seed.output].tensor()));
  }
  ASSAY_RETURN_IF_ERROR(RunSteps());
  return Settle();
}

Status GradientRun::RunSteps() {
  const StepGradient* running = nullptr;
  try {
    for (StepGradient& step : steps_) {
      running = &step;
      const Status status = step.Run();
      if (!status.ok()) [[unlikely]] {
        return status.WithContext(step.node().Label());
      }
    }
  } catch (...) {
    return backend::StatusOfException("backward")
        .WithContext(running->node().Label());
  }
  return OkStatus();
}

/// Takes each gradient to where it is to lie.
Status GradientRun::Settle() {
  for (const Target& target : targets_) {
    const Tensor& value = *frame_.value(target.id).tensor();
    if (target.same != nullptr) {
      ASSAY_RETURN_IF_ERROR(target.flow->Add(*target.same->tensor()));
    }
    const Status status = target.flow->Settle(value.dtype(), value.shape());
    if (!status.ok()) [[unlikely]] {
      return status.WithContext((*frame_.program().graph)[target.id].name);
    }
  }
  return OkStatus();
}

Result<std::vector<Value>> RunBackward(const GradientPlan& plan,
                                       const Frame& frame,
                                       std::span<const Value> cotangents,
                                       std::span<const std::string> targets) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<GradientRun> run,
                         GradientRun::Make(plan, frame, cotangents, targets));
  ASSAY_RETURN_IF_ERROR(run->SetMemory({}));
  ASSAY_RETURN_IF_ERROR(run->Run());
  return run->TakeGradients();
}

}  // namespace assay::eager
