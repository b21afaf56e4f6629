// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/remote_network.h"

#include <algorithm>

#include "framework/core/value_walk.h"

namespace assay::host {
namespace {

constexpr uint64_t kMostValues = 1 << 20;
constexpr uint64_t kMostTime = 3'600'000'000'000;  // ns of one call

/// True for a tensor with memory that can be compared.
bool HasBytes(const Tensor& tensor) {
  return tensor.data() != nullptr && tensor.byte_size() > 0;
}

/// The answer to a call, whose own status was OK.
class Answer {
 public:
  static Result<Answer> To(Link& link, wire::Call call,
                           const wire::Writer& what) {
    ASSAY_ASSIGN_OR_RETURN(std::string bytes, link.Ask(call, what));
    Answer answer(link, std::move(bytes));
    const auto status = answer.in_->Read<Status>();
    if (status.ok()) return answer;
    return answer.in_->Fault().ok() ? status : link.Refuse(answer.in_->Fault());
  }

  wire::Reader& in() { return *in_; }
  /// Everything was read, and could be.
  Status End() {
    const Status fault = in_->Fault();
    return fault.ok() ? fault : link_->Refuse(fault);
  }

 private:
  Answer(Link& link, std::string bytes)
      : link_(&link),
        bytes_(std::make_unique<std::string>(std::move(bytes))),
        in_(std::make_unique<wire::Reader>(*bytes_)) {}

  Link* link_;
  std::unique_ptr<std::string> bytes_;
  std::unique_ptr<wire::Reader> in_;
};

/// A call that gives nothing but its status.
Status Ask(Link& link, wire::Call call, const wire::Writer& what) {
  ASSAY_ASSIGN_OR_RETURN(Answer answer, Answer::To(link, call, what));
  return answer.End();
}

/// Reads the outputs of as many runs, then shows them one by one.
Status Show(Answer* answer, size_t count, const SeesRun& sees) {
  std::vector<std::vector<Value>> runs(count);
  for (std::vector<Value>& outputs : runs) {
    outputs = answer->in().ReadAll<Value>();
  }
  ASSAY_RETURN_IF_ERROR(answer->End());
  for (const std::vector<Value>& outputs : runs) {
    if (!sees(outputs)) break;
  }
  return OkStatus();
}

}  // namespace

void Results::Drop() { values_.assign(values_.size(), Value()); }

void Results::Read(Link& link, wire::Reader* in) {
  const uint64_t count = in->Number();
  // A backend may give fewer or more than it declares: it is seen so.
  values_.assign(std::min<uint64_t>(count, kMostValues), Value());
  given_.resize(values_.size());
  for (size_t i = 0; i < values_.size() && !in->faulty(); ++i) {
    const auto came = static_cast<wire::Came>(in->Number());
    values_[i] = came == wire::Came::kInPlace ? given_[i] : in->Read<Value>();
    if (came != wire::Came::kValue) continue;
    uint64_t issued = in->Number();
    ForEachTensor(values_[i], [&](const Tensor& tensor) {
      if (HasBytes(tensor)) link.Issue(issued++, tensor);
    });
  }
}

void RemoteNetwork::ReadRun(wire::Reader* in, Results* results) {
  for (uint64_t n = in->Number(); n > 0 && !in->faulty(); --n) {
    const uint64_t number = in->Number();
    link_.Rewrite(number, in->Text());
  }
  if (std::string placed = in->Text(); !placed.empty()) {
    declared_.placed = std::move(placed);
  }
  synchronize_ = in->Read<Status>();
  synchronized_ = true;
  if (synchronize_.ok()) results->Read(link_, in);
}

Status RemoteNetwork::Run(wire::Call call, const wire::Writer& what,
                          std::initializer_list<const Mirror*> mirrors,
                          Results* results,
                          const std::function<void(wire::Reader*)>& then) {
  for (const Mirror* mirror : mirrors) mirror->Push();
  Result<Answer> answer = Answer::To(link_, call, what);
  for (const Mirror* mirror : mirrors) mirror->Pull();
  ASSAY_RETURN_IF_ERROR(answer.status());
  ReadRun(&answer->in(), results);
  if (then != nullptr) then(&answer->in());
  return answer->End();
}

Result<std::unique_ptr<Binding>> RemoteNetwork::AskToBind(
    wire::Call call, std::span<const Value> inputs,
    std::span<const Value> outputs, Status* first) {
  Mirror mirror;
  ASSAY_RETURN_IF_ERROR(mirror.Add({inputs, outputs}));
  mirror.Push();
  const uint64_t number = link_.NewNumber();
  wire::Writer what = mirror.Call();
  what.Put(number_.get());
  what.Put(number);
  what.PutAll(inputs);
  what.PutAll(outputs);
  Result<Answer> answer = Answer::To(link_, call, what);
  mirror.Pull();
  ASSAY_RETURN_IF_ERROR(answer.status());
  std::unique_ptr<RemoteBinding> binding;
  if (answer->in().Number() != 0) {
    binding = std::make_unique<RemoteBinding>(
        link_, number, std::move(mirror),
        Results(outputs, declared_.outputs.size()));
    if (first != nullptr) {
      *first = answer->in().Read<Status>();
      if (first->ok()) ReadRun(&answer->in(), &binding->results_);
    }
  }
  ASSAY_RETURN_IF_ERROR(answer->End());
  return std::unique_ptr<Binding>(std::move(binding));
}

Result<std::unique_ptr<Binding>> RemoteNetwork::Bind(
    std::span<const Value> inputs, std::span<const Value> outputs) {
  return AskToBind(wire::Call::kBind, inputs, outputs, nullptr);
}

Result<FirstRun> RemoteNetwork::BindAndRun(std::span<const Value> inputs,
                                           std::span<const Value> outputs) {
  FirstRun first;
  ASSAY_ASSIGN_OR_RETURN(
      first.binding,
      AskToBind(wire::Call::kBindAndRun, inputs, outputs, &first.status));
  if (first.status.ok() && first.binding != nullptr) {
    first.status = Synchronize();
  }
  return first;
}

Status RemoteNetwork::Forward(Binding& binding) {
  auto& own = static_cast<RemoteBinding&>(binding);
  own.results_.Drop();
  wire::Writer call;
  call.Put(number_.get());
  call.Put(own.number_.get());
  return Run(wire::Call::kForward, call, {&own.mirror_}, &own.results_);
}

Result<std::chrono::nanoseconds> RemoteNetwork::RunMany(Binding& binding,
                                                        int64_t count,
                                                        const SeesRun& sees) {
  auto& own = static_cast<RemoteBinding&>(binding);
  own.results_.Drop();
  wire::Writer call;
  call.Put(number_.get());
  call.Put(own.number_.get());
  call.Put(static_cast<uint64_t>(count));
  own.mirror_.Push();
  Result<Answer> answer = Answer::To(link_, wire::Call::kForwardMany, call);
  own.mirror_.Pull();
  ASSAY_RETURN_IF_ERROR(answer.status());
  synchronized_ = false;
  const std::chrono::nanoseconds spent(
      static_cast<int64_t>(std::min(answer->in().Number(), kMostTime)));
  ASSAY_RETURN_IF_ERROR(Show(&*answer, static_cast<size_t>(count), sees));
  return spent;
}

Status RemoteNetwork::RunEach(Binding& binding, const Refill& refill,
                              const SeesRun& sees) {
  auto& own = static_cast<RemoteBinding&>(binding);
  own.results_.Drop();
  wire::Writer call = own.mirror_.Call();
  call.Put(number_.get());
  call.Put(own.number_.get());
  call.PutAll(refill.memory);
  call.Put(uint64_t{refill.runs.size()});
  for (const std::vector<Value>& values : refill.runs) call.PutAll(values);
  own.mirror_.Push();
  Result<Answer> answer = Answer::To(link_, wire::Call::kForwardEach, call);
  own.mirror_.Pull();
  ASSAY_RETURN_IF_ERROR(answer.status());
  synchronized_ = false;
  return Show(&*answer, refill.runs.size(), sees);
}

Status RemoteNetwork::Synchronize() {
  if (std::exchange(synchronized_, false)) return synchronize_;
  wire::Writer call;
  call.Put(number_.get());
  return Ask(link_, wire::Call::kSynchronize, call);
}

Result<std::vector<Value>> RemoteNetwork::Backward(
    Binding& binding, std::span<const Value> cotangents,
    std::span<const std::string> targets) {
  auto& own = static_cast<RemoteBinding&>(binding);
  Mirror mirror(&own.mirror_);
  ASSAY_RETURN_IF_ERROR(mirror.Add({cotangents}));
  wire::Writer call = mirror.Call();
  call.Put(number_.get());
  call.Put(own.number_.get());
  call.PutAll(cotangents);
  call.PutAll(targets);
  Results gradients({}, targets.size());
  ASSAY_RETURN_IF_ERROR(
      Run(wire::Call::kBackward, call, {&mirror, &own.mirror_}, &gradients));
  return gradients.Take();
}

std::vector<Pulled> RemoteNetwork::BackwardEach(
    Binding& binding, std::span<const BackwardAsk> asks) {
  auto& own = static_cast<RemoteBinding&>(binding);
  std::vector<Pulled> all;
  while (all.size() < asks.size() &&
         (all.empty() || all.back().gradients.ok())) {
    const Status asked = AskSome(own, asks.subspan(all.size()), &all);
    if (!asked.ok()) all.push_back({asked});
  }
  return all;
}

Status RemoteNetwork::AskSome(RemoteBinding& binding,
                              std::span<const BackwardAsk> asks,
                              std::vector<Pulled>* all) {
  std::vector<Value> cotangents;
  for (const BackwardAsk& ask : asks) {
    cotangents.insert(cotangents.end(), ask.cotangents.begin(),
                      ask.cotangents.end());
  }
  Mirror mirror(&binding.mirror_);
  ASSAY_RETURN_IF_ERROR(mirror.Add({cotangents}));
  wire::Writer call = mirror.Call();
  call.Put(number_.get());
  call.Put(binding.number_.get());
  call.Put(uint64_t{asks.size()});
  for (const BackwardAsk& ask : asks) {
    call.PutAll(ask.cotangents);
    call.PutAll(ask.targets);
  }
  Results none({}, 0);
  const size_t before = all->size();
  const auto read = [&](wire::Reader* in) {
    const uint64_t answered = std::min<uint64_t>(in->Number(), asks.size());
    for (uint64_t i = 0; i < answered && !in->faulty(); ++i) {
      Pulled pulled;
      pulled.took = std::chrono::nanoseconds(
          static_cast<int64_t>(std::min(in->Number(), kMostTime)));
      const auto status = in->Read<Status>();
      if (status.ok()) {
        pulled.gradients = in->ReadAll<Value>();
      } else {
        pulled.gradients = status;
      }
      all->push_back(std::move(pulled));
    }
  };
  ASSAY_RETURN_IF_ERROR(Run(wire::Call::kBackwardEach, call,
                            {&mirror, &binding.mirror_}, &none, read));
  if (all->size() > before) return OkStatus();
  return link_.Refuse(DataLoss("found no gradients where some were asked for"));
}

Result<std::unique_ptr<GradientBinding>> RemoteNetwork::BindBackward(
    Binding& binding, std::span<const Value> cotangents,
    std::span<const std::string> targets, std::span<const Value> gradients) {
  auto& own = static_cast<RemoteBinding&>(binding);
  Mirror mirror(&own.mirror_);
  ASSAY_RETURN_IF_ERROR(mirror.Add({cotangents, gradients}));
  const uint64_t number = link_.NewNumber();
  wire::Writer call = mirror.Call();
  call.Put(number_.get());
  call.Put(own.number_.get());
  call.Put(number);
  call.PutAll(cotangents);
  call.PutAll(targets);
  call.PutAll(gradients);
  mirror.Push();
  own.mirror_.Push();
  Result<Answer> answer = Answer::To(link_, wire::Call::kBindBackward, call);
  mirror.Pull();
  own.mirror_.Pull();
  ASSAY_RETURN_IF_ERROR(answer.status());
  const bool bound = answer->in().Number() != 0;
  ASSAY_RETURN_IF_ERROR(answer->End());
  if (!bound) return std::unique_ptr<GradientBinding>();
  return std::unique_ptr<GradientBinding>(
      std::make_unique<RemoteGradients>(link_, number, own, std::move(mirror),
                                        Results(gradients, targets.size())));
}

Status RemoteNetwork::RunBackward(GradientBinding& bound) {
  auto& own = static_cast<RemoteGradients&>(bound);
  own.results_.Drop();
  wire::Writer call;
  call.Put(number_.get());
  call.Put(own.number_.get());
  return Run(wire::Call::kRunBackward, call,
             {&own.mirror_, &own.binding_.mirror_}, &own.results_);
}

std::vector<std::string> RemoteNetwork::List() const {
  wire::Writer call;
  call.Put(number_.get());
  Result<Answer> answer = Answer::To(link_, wire::Call::kListParameters, call);
  if (!answer.ok()) return {};
  auto names = answer->in().ReadAll<std::string>();
  return answer->End().ok() ? std::move(names) : std::vector<std::string>();
}

Result<Tensor> RemoteNetwork::Read(std::string_view name) const {
  wire::Writer call;
  call.Put(number_.get());
  call.Put(name);
  ASSAY_ASSIGN_OR_RETURN(Answer answer,
                         Answer::To(link_, wire::Call::kReadParameter, call));
  auto tensor = answer.in().Read<Tensor>();
  ASSAY_RETURN_IF_ERROR(answer.End());
  return tensor;
}

Status RemoteNetwork::Write(std::string_view name, const Tensor& value) {
  wire::Writer call;
  call.Put(number_.get());
  call.Put(name);
  call.Put(value);
  return Ask(link_, wire::Call::kWriteParameter, call);
}

std::vector<std::string> RemoteNetwork::Optimizers() const {
  wire::Writer call;
  call.Put(number_.get());
  Result<Answer> answer = Answer::To(link_, wire::Call::kOptimizers, call);
  if (!answer.ok()) return {};
  auto names = answer->in().ReadAll<std::string>();
  return answer->End().ok() ? std::move(names) : std::vector<std::string>();
}

Status RemoteNetwork::Configure(
    std::string_view optimizer,
    const std::map<std::string, double>& hyperparameters) {
  wire::Writer call;
  call.Put(number_.get());
  call.Put(optimizer);
  call.Put(uint64_t{hyperparameters.size()});
  for (const auto& [name, value] : hyperparameters) {
    call.Put(name);
    call.Put(value);
  }
  return Ask(link_, wire::Call::kConfigure, call);
}

Status RemoteNetwork::Step(Binding& binding, std::string_view loss) {
  auto& own = static_cast<RemoteBinding&>(binding);
  own.results_.Drop();
  wire::Writer call;
  call.Put(number_.get());
  call.Put(own.number_.get());
  call.Put(loss);
  return Run(wire::Call::kStep, call, {&own.mirror_}, &own.results_);
}

Status RemoteNetwork::DrawFrom(uint64_t run_seed, int64_t step) {
  wire::Writer call;
  call.Put(number_.get());
  call.Put(run_seed);
  call.Put(static_cast<uint64_t>(step));
  return Ask(link_, wire::Call::kDrawFrom, call);
}

std::vector<PlacedNode> RemoteNetwork::Placed() const {
  wire::Reader in(declared_.placed);
  auto nodes = in.ReadAll<PlacedNode>();
  if (in.Fault().ok()) return nodes;
  static_cast<void>(link_.Refuse(in.Fault()));
  return {};
}

Result<std::unique_ptr<ExactRun>> RemoteNetwork::At(
    std::span<const Value>, std::span<const std::string>) {
  return FailedPrecondition(
      "exact answers are not asked of a backend in a process of its own");
}

}  // namespace assay::host
