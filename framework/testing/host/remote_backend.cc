// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/remote_backend.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/testing/host/mirror.h"
#include "framework/testing/host/runs.h"
#include "framework/testing/host/timed.h"
#include "framework/testing/host/timed_wire.h"

namespace assay::host {
namespace {

using Mirrors = std::initializer_list<const Mirror*>;

/// The answer to a call in which the host may read and write what is mirrored.
Result<Answer> Mirrored(Link& link, wire::Call call, const wire::Writer& what,
                        const Mirrors& mirrors) {
  for (const Mirror* mirror : mirrors) mirror->Push();
  Result<Answer> answer = Answer::To(link, call, what);
  for (const Mirror* mirror : mirrors) mirror->Pull();
  return answer;
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

/// The declarations of a network when it is loaded.
struct Declared {
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  uint64_t offered = 0;  // bits of Offered
  std::string placed;    // where nodes ran so far, as Server writes it
};

/// A number of the host's, with the memory and the results that belong to it.
struct Held {
  Held(Link& link, wire::Kind kind, uint64_t given, Mirror values,
       Results to_come)
      : number(link, kind, given),
        mirror(std::move(values)),
        results(std::move(to_come)) {}

  Numbered number;
  Mirror mirror;
  Results results;
};

struct RemoteBinding : Binding, Held {
  using Held::Held;
  std::span<const Value> outputs() const override { return results.values(); }
};

struct RemoteGradients : GradientBinding, Held {
  using Held::Held;
  std::span<const Value> gradients() const override { return results.values(); }
  const Mirror* bound = nullptr;  // of the binding
};

class RemoteNetwork : public Network,
                      public InOneCall,
                      public TimedThere,
                      public Differentiable,
                      public Parameters,
                      public NativeStep,
                      public Draws,
                      public Placement,
                      public Exact {
 public:
  RemoteNetwork(Link& link, uint64_t number, Declared declared)
      : link_(link),
        number_(link, wire::Kind::kNetwork, number),
        declared_(std::move(declared)) {}

  std::span<const ValueInfo> inputs() const override {
    return declared_.inputs;
  }
  std::span<const ValueInfo> outputs() const override {
    return declared_.outputs;
  }
  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    return AskToBind(wire::Call::kBind, inputs, outputs, nullptr);
  }
  Result<FirstRun> BindAndRun(std::span<const Value> inputs,
                              std::span<const Value> outputs) override;
  Status Forward(Binding& binding) override {
    return RunBound(wire::Call::kForward, binding);
  }
  Result<std::chrono::nanoseconds> RunMany(Binding& binding, int64_t count,
                                           const SeesRun& sees) override;
  Status RunEach(Binding& binding, const Refill& refill,
                 const SeesRun& sees) override;
  std::vector<Pulled> BackwardEach(Binding& binding,
                                   std::span<const BackwardAsk> asks) override;
  Result<Timed> TimeRuns(Binding& binding, const TimedAsk& ask) override;
  Result<std::vector<Life>> TimeLives(std::span<const Value> inputs,
                                      int64_t count) override;
  Status Synchronize() override {
    if (std::exchange(synchronized_, false)) return synchronize_;
    return AskOnly(wire::Call::kSynchronize);
  }

  Differentiable* differentiable() override {
    return If(wire::kDifferentiable);
  }
  Parameters* parameters() override { return If(wire::kParameters); }
  NativeStep* native_step() override { return If(wire::kNativeStep); }
  Draws* draws() override { return If(wire::kDraws); }
  Placement* placement() override { return If(wire::kPlacement); }
  Exact* exact() override { return If(wire::kExact); }

  Result<std::vector<Value>> Backward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets) override;
  Result<std::unique_ptr<GradientBinding>> BindBackward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets,
      std::span<const Value> gradients) override;
  Status RunBackward(GradientBinding& bound) override;

  std::vector<std::string> List() const override {
    return Names(wire::Call::kListParameters);
  }
  Result<Tensor> Read(std::string_view name) const override;
  Status Write(std::string_view name, const Tensor& value) override {
    return AskOnly(wire::Call::kWriteParameter, name, value);
  }

  std::vector<std::string> Optimizers() const override {
    return Names(wire::Call::kOptimizers);
  }
  Status Configure(
      std::string_view optimizer,
      const std::map<std::string, double>& hyperparameters) override {
    return AskOnly(wire::Call::kConfigure, optimizer, hyperparameters);
  }
  Status Step(Binding& binding, std::string_view loss) override {
    return RunBound(wire::Call::kStep, binding, loss);
  }

  Status DrawFrom(uint64_t run_seed, int64_t step) override {
    return AskOnly(wire::Call::kDrawFrom, run_seed,
                   static_cast<uint64_t>(step));
  }

  std::vector<PlacedNode> Placed() const override;

  Result<std::unique_ptr<ExactRun>> At(std::span<const Value>,
                                       std::span<const std::string>) override {
    return FailedPrecondition(
        "exact answers are not asked of a backend in a process of its own");
  }

 private:
  /// This, where the network offers the interface.
  RemoteNetwork* If(wire::Offered interface) {
    return (declared_.offered & interface) != 0 ? this : nullptr;
  }
  template <class... Items>
  Result<Answer> Ask(wire::Call call, const Items&... items) const {
    return Answer::To(link_, call, wire::Written(number_.get(), items...));
  }
  /// A call that gives nothing but its status.
  template <class... Items>
  Status AskOnly(wire::Call call, const Items&... items) {
    ASSAY_ASSIGN_OR_RETURN(Answer answer, Ask(call, items...));
    return answer.End();
  }
  /// A call that gives names; none where it fails.
  std::vector<std::string> Names(wire::Call call) const;
  /// Asks a call that binds; `first`, where given, gets what its run says.
  Result<std::unique_ptr<Binding>> AskToBind(wire::Call call,
                                             std::span<const Value> inputs,
                                             std::span<const Value> outputs,
                                             Status* first);
  /// Reads what a run says: what changed of the tensors that are held, the
  /// status of synchronizing, and the values.
  void ReadRun(wire::Reader* in, Results* results);
  /// `then` reads what the answer says besides.
  Status Run(wire::Call call, const wire::Writer& what, const Mirrors& mirrors,
             Results* results,
             const std::function<void(wire::Reader*)>& then = {});
  /// A run of a binding, whose outputs it gives.
  template <class... Items>
  Status RunBound(wire::Call call, Binding& binding, const Items&... items) {
    auto& own = static_cast<RemoteBinding&>(binding);
    own.results.Drop();
    return Run(call, wire::Written(number_.get(), own.number.get(), items...),
               {&own.mirror}, &own.results);
  }
  /// Several runs of a binding, each of whose outputs the answer has.
  template <class... Items>
  Result<Answer> RunSome(wire::Call call, Binding& binding,
                         const Items&... items) {
    auto& own = static_cast<RemoteBinding&>(binding);
    own.results.Drop();
    wire::Writer what = own.mirror.Call();
    what.Put(number_.get(), own.number.get(), items...);
    ASSAY_ASSIGN_OR_RETURN(Answer answer,
                           Mirrored(link_, call, what, {&own.mirror}));
    synchronized_ = false;
    return answer;
  }
  /// Adds what the host answers to the first of the asks, one or more.
  Status AskSome(RemoteBinding& binding, std::span<const BackwardAsk> asks,
                 std::vector<Pulled>* all);

  Link& link_;
  Numbered number_;
  Declared declared_;
  bool synchronized_ = false;  // by the last run
  Status synchronize_;         // what that said
};

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
                          const Mirrors& mirrors, Results* results,
                          const std::function<void(wire::Reader*)>& then) {
  ASSAY_ASSIGN_OR_RETURN(Answer answer, Mirrored(link_, call, what, mirrors));
  ReadRun(&answer.in(), results);
  if (then != nullptr) then(&answer.in());
  return answer.End();
}

Result<std::unique_ptr<Binding>> RemoteNetwork::AskToBind(
    wire::Call call, std::span<const Value> inputs,
    std::span<const Value> outputs, Status* first) {
  Mirror mirror;
  ASSAY_RETURN_IF_ERROR(mirror.Add({inputs, outputs}));
  const uint64_t number = link_.NewNumber();
  wire::Writer what = mirror.Call();
  what.Put(number_.get(), number, inputs, outputs);
  ASSAY_ASSIGN_OR_RETURN(Answer answer, Mirrored(link_, call, what, {&mirror}));
  std::unique_ptr<RemoteBinding> binding;
  if (answer.in().Flag()) {
    binding = std::make_unique<RemoteBinding>(
        link_, wire::Kind::kBinding, number, std::move(mirror),
        Results(outputs, declared_.outputs.size()));
    if (first != nullptr) {
      *first = answer.in().Read<Status>();
      if (first->ok()) ReadRun(&answer.in(), &binding->results);
    }
  }
  ASSAY_RETURN_IF_ERROR(answer.End());
  return std::unique_ptr<Binding>(std::move(binding));
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

Result<std::chrono::nanoseconds> RemoteNetwork::RunMany(Binding& binding,
                                                        int64_t count,
                                                        const SeesRun& sees) {
  const auto runs = static_cast<uint64_t>(count);
  ASSAY_ASSIGN_OR_RETURN(Answer answer,
                         RunSome(wire::Call::kForwardMany, binding, runs));
  const std::chrono::nanoseconds spent = ReadTime(&answer.in());
  ASSAY_RETURN_IF_ERROR(Show(&answer, runs, sees));
  return spent;
}

Status RemoteNetwork::RunEach(Binding& binding, const Refill& refill,
                              const SeesRun& sees) {
  ASSAY_ASSIGN_OR_RETURN(
      Answer answer,
      RunSome(wire::Call::kForwardEach, binding, refill.memory, refill.runs));
  return Show(&answer, refill.runs.size(), sees);
}

Result<Timed> RemoteNetwork::TimeRuns(Binding& binding, const TimedAsk& ask) {
  auto& own = static_cast<RemoteBinding&>(binding);
  auto* const bound = static_cast<RemoteGradients*>(ask.gradients);
  own.results.Drop();
  if (bound != nullptr) bound->results.Drop();
  const Mirror& innermost = bound != nullptr ? bound->mirror : own.mirror;
  wire::Writer what = innermost.Call();
  what.Put(number_.get(), own.number.get(),
           bound != nullptr ? bound->number.get() : uint64_t{0});
  PutAsk(ask, &what);
  ASSAY_ASSIGN_OR_RETURN(
      Answer answer,
      Mirrored(link_, wire::Call::kTimeRuns, what, {&own.mirror, &innermost}));
  synchronized_ = false;
  Timed timed = ReadTimed(ask.samples, &answer.in());
  ASSAY_RETURN_IF_ERROR(answer.End());
  return timed;
}

Result<std::vector<Life>> RemoteNetwork::TimeLives(
    std::span<const Value> inputs, int64_t count) {
  Mirror mirror;
  ASSAY_RETURN_IF_ERROR(mirror.Add({inputs}));
  wire::Writer what = mirror.Call();
  what.Put(number_.get(), inputs, static_cast<uint64_t>(count));
  ASSAY_ASSIGN_OR_RETURN(
      Answer answer, Mirrored(link_, wire::Call::kTimeLives, what, {&mirror}));
  auto lives = ReadLives(count, &answer.in());
  ASSAY_RETURN_IF_ERROR(answer.End());
  return lives;
}

Result<std::vector<Value>> RemoteNetwork::Backward(
    Binding& binding, std::span<const Value> cotangents,
    std::span<const std::string> targets) {
  auto& own = static_cast<RemoteBinding&>(binding);
  Mirror mirror(&own.mirror);
  ASSAY_RETURN_IF_ERROR(mirror.Add({cotangents}));
  wire::Writer call = mirror.Call();
  call.Put(number_.get(), own.number.get(), cotangents, targets);
  Results gradients({}, targets.size());
  ASSAY_RETURN_IF_ERROR(
      Run(wire::Call::kBackward, call, {&mirror, &own.mirror}, &gradients));
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
  Mirror mirror(&binding.mirror);
  ASSAY_RETURN_IF_ERROR(mirror.Add({cotangents}));
  wire::Writer call = mirror.Call();
  call.Put(number_.get(), binding.number.get(), uint64_t{asks.size()});
  for (const BackwardAsk& ask : asks) call.Put(ask.cotangents, ask.targets);
  Results none({}, 0);
  const size_t before = all->size();
  const auto read = [&](wire::Reader* in) {
    const uint64_t answered = std::min<uint64_t>(in->Number(), asks.size());
    for (uint64_t i = 0; i < answered && !in->faulty(); ++i) {
      Pulled pulled;
      pulled.took = ReadTime(in);
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
                            {&mirror, &binding.mirror}, &none, read));
  if (all->size() > before) return OkStatus();
  return link_.Refuse(DataLoss("found no gradients where some were asked for"));
}

Result<std::unique_ptr<GradientBinding>> RemoteNetwork::BindBackward(
    Binding& binding, std::span<const Value> cotangents,
    std::span<const std::string> targets, std::span<const Value> gradients) {
  auto& own = static_cast<RemoteBinding&>(binding);
  Mirror mirror(&own.mirror);
  ASSAY_RETURN_IF_ERROR(mirror.Add({cotangents, gradients}));
  const uint64_t number = link_.NewNumber();
  wire::Writer call = mirror.Call();
  call.Put(number_.get(), own.number.get(), number, cotangents, targets,
           gradients);
  ASSAY_ASSIGN_OR_RETURN(
      Answer answer,
      Mirrored(link_, wire::Call::kBindBackward, call, {&mirror, &own.mirror}));
  const bool bound = answer.in().Flag();
  ASSAY_RETURN_IF_ERROR(answer.End());
  if (!bound) return std::unique_ptr<GradientBinding>();
  auto made = std::make_unique<RemoteGradients>(
      link_, wire::Kind::kGradients, number, std::move(mirror),
      Results(gradients, targets.size()));
  made->bound = &own.mirror;
  return std::unique_ptr<GradientBinding>(std::move(made));
}

Status RemoteNetwork::RunBackward(GradientBinding& bound) {
  auto& own = static_cast<RemoteGradients&>(bound);
  own.results.Drop();
  return Run(wire::Call::kRunBackward,
             wire::Written(number_.get(), own.number.get()),
             {&own.mirror, own.bound}, &own.results);
}

std::vector<std::string> RemoteNetwork::Names(wire::Call call) const {
  Result<Answer> answer = Ask(call);
  if (!answer.ok()) return {};
  auto names = answer->in().ReadAll<std::string>();
  return answer->End().ok() ? std::move(names) : std::vector<std::string>();
}

Result<Tensor> RemoteNetwork::Read(std::string_view name) const {
  ASSAY_ASSIGN_OR_RETURN(Answer answer, Ask(wire::Call::kReadParameter, name));
  auto tensor = answer.in().Read<Tensor>();
  ASSAY_RETURN_IF_ERROR(answer.End());
  return tensor;
}

std::vector<PlacedNode> RemoteNetwork::Placed() const {
  wire::Reader in(declared_.placed);
  auto nodes = in.ReadAll<PlacedNode>();
  if (in.Fault().ok()) return nodes;
  static_cast<void>(link_.Refuse(in.Fault()));
  return {};
}

}  // namespace

Result<Probe> RemoteBackend::InspectAs(const Settings& settings) {
  LoadOptions options;
  options.settings = settings;
  ASSAY_ASSIGN_OR_RETURN(Answer answer, Answer::To(link_, wire::Call::kInspect,
                                                   wire::Written(options)));
  Probe probe;
  probe.version = answer.in().Text();
  probe.device = answer.in().Text();
  probe.isa = answer.in().ReadAll<std::string>();
  ASSAY_RETURN_IF_ERROR(answer.End());
  return probe;
}

Result<std::unique_ptr<Network>> RemoteBackend::Load(
    std::shared_ptr<const Model> model, const LoadOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const ModelCrossing crossing,
                         ModelCrossing::Of(*model));
  const uint64_t number = link_.NewNumber();
  wire::Writer call = crossing.Call();
  call.Put(number);
  crossing.Put(&call);
  call.Put(options);
  ASSAY_ASSIGN_OR_RETURN(Answer answer,
                         Answer::To(link_, wire::Call::kLoad, call));
  wire::Reader& in = answer.in();
  const bool loaded = in.Flag();
  Declared declared;
  if (loaded) {
    declared.inputs = in.ReadAll<ValueInfo>();
    declared.outputs = in.ReadAll<ValueInfo>();
    declared.offered = in.Number();
    declared.placed = in.Text();
  }
  ASSAY_RETURN_IF_ERROR(answer.End());
  if (!loaded) return std::unique_ptr<Network>();
  return std::unique_ptr<Network>(
      std::make_unique<RemoteNetwork>(link_, number, std::move(declared)));
}

}  // namespace assay::host
