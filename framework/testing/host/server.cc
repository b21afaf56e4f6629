// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/server.h"

#include <algorithm>
#include <string_view>
#include <thread>

#include "framework/backend/exception.h"
#include "framework/testing/host/crash_report.h"
#include "framework/testing/host/runs.h"

namespace assay::host {
namespace {

constexpr size_t kEnough = size_t{1} << 20;  // bytes of several gradients

bool InPlace(const Value& value, std::span<const Value> given, size_t index) {
  if (index >= given.size()) return false;
  const Tensor* const wanted = given[index].tensor();
  const Tensor* const got = value.tensor();
  return wanted != nullptr && got != nullptr && wanted->data() != nullptr &&
         wanted->data() == got->data() && wanted->dtype() == got->dtype() &&
         wanted->shape() == got->shape();
}

/// An interface that the network offered when it was loaded; `gone` says that
/// it does not any more.
template <class Interface>
Result<Interface*> Offered(Interface* interface, const char* gone) {
  if (interface == nullptr) return Internal(gone);
  return interface;
}

/// The optional interfaces of a network, as bits.
uint64_t OfferedBy(Network& network) {
  const auto bit = [](const void* interface, wire::Offered offered) {
    return interface != nullptr ? uint64_t{offered} : 0;
  };
  return bit(network.differentiable(), wire::kDifferentiable) |
         bit(network.parameters(), wire::kParameters) |
         bit(network.native_step(), wire::kNativeStep) |
         bit(network.draws(), wire::kDraws) |
         bit(network.placement(), wire::kPlacement) |
         bit(network.exact(), wire::kExact);
}

Result<Differentiable*> GradientsOf(Network& network) {
  return Offered(network.differentiable(), "no gradients any more");
}

Status OfParameters(Network& network, wire::Call call, wire::Reader* in,
                    wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(
      Parameters* const parameters,
      Offered(network.parameters(), "no parameters any more"));
  if (call == wire::Call::kListParameters) {
    out->Put(std::as_const(*parameters).List());
    return OkStatus();
  }
  const std::string name = in->Text();
  if (call == wire::Call::kReadParameter) {
    ASSAY_ASSIGN_OR_RETURN(const Tensor tensor,
                           std::as_const(*parameters).Read(name));
    out->Put(tensor);
    return OkStatus();
  }
  const auto tensor = in->Read<Tensor>();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  return parameters->Write(name, tensor);
}

Status OfNativeStep(Network& network, wire::Call call, wire::Reader* in,
                    wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(
      NativeStep* const native,
      Offered(network.native_step(), "no optimizer any more"));
  if (call == wire::Call::kOptimizers) {
    out->Put(std::as_const(*native).Optimizers());
    return OkStatus();
  }
  const std::string optimizer = in->Text();
  const auto hyperparameters = in->ReadMap<double>();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  return native->Configure(optimizer, hyperparameters);
}

Status OfDraws(Network& network, wire::Reader* in) {
  ASSAY_ASSIGN_OR_RETURN(Draws* const draws,
                         Offered(network.draws(), "no seed is taken any more"));
  const uint64_t run_seed = in->Number();
  const auto step = static_cast<int64_t>(in->Number());
  ASSAY_RETURN_IF_ERROR(in->Fault());
  return draws->DrawFrom(run_seed, step);
}

}  // namespace

void Server::Close(wire::Kind kind, uint64_t number) {
  const auto take = [&](auto& all) {
    const std::lock_guard lock(mutex_);
    auto taken = all.extract(number);
    // Memory that is not shared may go with it.
    if (!taken.empty()) held_.DropBorrowed();
    return taken;
  };
  // Destroyed without the lock, for that is the backend's code.
  EnterPhase("the end of a network");
  switch (kind) {
    case wire::Kind::kNetwork:
      take(networks_);
      break;
    case wire::Kind::kBinding:
      take(bindings_);
      break;
    case wire::Kind::kGradients:
      take(gradients_);
      break;
  }
}

void Server::ReadHead(wire::Reader* in,
                      const std::vector<wire::Descriptor>& descriptors) {
  std::vector<std::pair<wire::Kind, uint64_t>> closed;
  for (uint64_t n = in->Number(); n > 0 && !in->faulty(); --n) {
    const auto kind = static_cast<wire::Kind>(in->Number());
    closed.emplace_back(kind, in->Number());
  }
  const auto released = in->ReadAll<uint64_t>();
  if (const uint64_t generation = in->Number(); generation > 0) {
    std::vector<uint32_t> segments;
    for (uint64_t n = in->Number(); n > 0 && !in->faulty(); --n) {
      segments.push_back(static_cast<uint32_t>(in->Number()));
    }
    const std::lock_guard lock(mutex_);
    for (const wire::Descriptor& descriptor : descriptors) {
      const auto segment = static_cast<uint32_t>(in->Number());
      const Status added = segments_.Add(segment, descriptor.get());
      if (!added.ok()) in->Refuse(added.message());
    }
    if (generation > segments_generation_) segments_.KeepOnly(segments);
    segments_generation_ = std::max(segments_generation_, generation);
  }
  {
    const std::lock_guard lock(mutex_);
    held_.Release(released);
  }
  for (const auto& [kind, number] : closed) Close(kind, number);
}

void Server::Serve(wire::Channel* channel) {
  while (true) {
    Result<wire::Message> message = channel->Receive();
    if (!message.ok()) return;
    wire::Reader in(message->text, [this](wire::Place place, uint64_t size) {
      const std::lock_guard lock(mutex_);
      return segments_.At(place, size);
    });
    const auto call = static_cast<wire::Call>(in.Number());
    if (call == wire::Call::kThread) {
      if (message->descriptors.size() != 1) return;
      std::thread([this,
                   socket = std::move(message->descriptors[0])]() mutable {
        wire::Channel own(std::move(socket));
        Serve(&own);
      }).detach();
      continue;
    }
    std::string answer;
    try {
      ReadHead(&in, message->descriptors);
      message->descriptors.clear();
      answer = Answer(call, &in);
    } catch (...) {
      answer = wire::Written(backend::StatusOfException("the backend")).Take();
    }
    EnterPhase(nullptr);
    if (getpid() != owner_ || !channel->Send(answer).ok()) return;
  }
}

std::string Server::Answer(wire::Call call, wire::Reader* in) {
  wire::Writer out = wire::Written(OkStatus());
  const Status status = Dispatch(call, in, &out);
  if (status.ok()) return std::move(out).Take();
  return wire::Written(status).Take();
}

Status Server::Dispatch(wire::Call call, wire::Reader* in, wire::Writer* out) {
  EnterPhase(wire::PhaseOf(call));
  using Answers = Status (Server::*)(wire::Reader*, wire::Writer*);
  static const std::map<wire::Call, Answers> kAnswers = {
      {wire::Call::kInspect, &Server::Inspect},
      {wire::Call::kLoad, &Server::Load},
      {wire::Call::kBind, &Server::Bind},
      {wire::Call::kBindAndRun, &Server::BindAndRun},
      {wire::Call::kForward, &Server::Forward},
      {wire::Call::kForwardMany, &Server::ForwardMany},
      {wire::Call::kForwardEach, &Server::ForwardEach},
      {wire::Call::kTimeRuns, &Server::TimeSamples},
      {wire::Call::kTimeLives, &Server::TimeAgain},
      {wire::Call::kSynchronize, &Server::Synchronize},
      {wire::Call::kBackward, &Server::Backward},
      {wire::Call::kBackwardEach, &Server::BackwardEach},
      {wire::Call::kBindBackward, &Server::BindBackward},
      {wire::Call::kRunBackward, &Server::RunBackward},
      {wire::Call::kStep, &Server::Step},
      {wire::Call::kCaseEnd, &Server::EndCase}};
  if (const auto found = kAnswers.find(call); found != kAnswers.end()) {
    return (this->*found->second)(in, out);
  }
  ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
  switch (call) {
    case wire::Call::kListParameters:
    case wire::Call::kReadParameter:
    case wire::Call::kWriteParameter:
      return OfParameters(*served->network, call, in, out);
    case wire::Call::kOptimizers:
    case wire::Call::kConfigure:
      return OfNativeStep(*served->network, call, in, out);
    case wire::Call::kDrawFrom:
      return OfDraws(*served->network, in);
    default:
      return DataLoss("found the call ", static_cast<uint64_t>(call),
                      ", which there is not");
  }
}

Status Server::Inspect(wire::Reader* in, wire::Writer* out) {
  const auto options = in->Read<LoadOptions>();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  ASSAY_ASSIGN_OR_RETURN(const Probe probe,
                         backend_.InspectAs(options.settings));
  out->Put(probe.version, probe.device, probe.isa);
  return OkStatus();
}

Status Server::Load(wire::Reader* in, wire::Writer* out) {
  const uint64_t number = in->Number();
  ASSAY_ASSIGN_OR_RETURN(auto model, models_.Read(in));
  auto served = std::make_unique<Served>();
  served->model = model;
  served->options = in->Read<LoadOptions>();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  ASSAY_ASSIGN_OR_RETURN(served->network,
                         backend_.Load(std::move(model), served->options));
  out->Put(served->network != nullptr);
  if (served->network == nullptr) return OkStatus();
  out->Put(served->network->inputs(), served->network->outputs(),
           OfferedBy(*served->network));
  PutPlaced(served.get(), out);
  const std::lock_guard lock(mutex_);
  networks_[number] = std::move(served);
  return OkStatus();
}

void Server::PutPlaced(Served* served, wire::Writer* out) {
  wire::Writer now;
  if (Placement* const placement = served->network->placement()) {
    now.Put(std::as_const(*placement).Placed());
  }
  const bool same = now.bytes() == served->placed;
  out->Put(same ? std::string_view() : std::string_view(now.bytes()));
  if (!same) served->placed = now.bytes();
}

Result<Server::Served*> Server::Self(wire::Reader* in) {
  return Find(networks_, in->Number(), "network");
}

Result<Server::Named> Server::NamedBy(wire::Reader* in) {
  Named named;
  ASSAY_ASSIGN_OR_RETURN(named.served, Self(in));
  ASSAY_ASSIGN_OR_RETURN(named.bound, Find(bindings_, in->Number(), "binding"));
  return named;
}

Status Server::BindValues(wire::Reader* in, wire::Writer* out, bool run) {
  ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
  const uint64_t number = in->Number();
  const auto inputs = in->ReadAll<Value>();
  auto outputs = in->ReadAll<Value>();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  auto bound = std::make_unique<Bound>();
  EnterPhase("bind");
  ASSAY_ASSIGN_OR_RETURN(bound->binding,
                         served->network->Bind(inputs, outputs));
  out->Put(bound->binding != nullptr);
  if (bound->binding == nullptr) return OkStatus();
  bound->given = std::move(outputs);
  if (run) {
    EnterPhase("forward");
    wire::Writer first;
    const Named named{served, bound.get()};
    const Status ran = RunBound(
        named, [&] { return named.network().Forward(named.binding()); },
        &first);
    out->Put(ran);
    if (ran.ok()) out->Append(first);
  }
  const std::lock_guard lock(mutex_);
  bindings_[number] = std::move(bound);
  return OkStatus();
}

Status Server::Run(Served* served, const std::function<Status()>& run,
                   std::span<const Value> given,
                   const std::function<std::span<const Value>()>& values,
                   wire::Writer* out) {
  ASSAY_RETURN_IF_ERROR(run());
  const Status synchronized = served->network->Synchronize();
  {
    const std::lock_guard lock(mutex_);
    held_.PutChanged(out);
  }
  PutPlaced(served, out);
  out->Put(synchronized);
  if (!synchronized.ok()) return OkStatus();
  const std::span<const Value> got = values();
  out->Put(uint64_t{got.size()});
  for (size_t i = 0; i < got.size(); ++i) {
    if (InPlace(got[i], given, i)) {
      out->Put(wire::Came::kInPlace);
      continue;
    }
    const std::lock_guard lock(mutex_);
    held_.PutResult(got[i], segments_, out);
  }
  return OkStatus();
}

Status Server::Forward(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(const Named named, NamedBy(in));
  ASSAY_RETURN_IF_ERROR(in->Fault());
  return RunBound(
      named, [&] { return named.network().Forward(named.binding()); }, out);
}

Status Server::RunBound(const Named& named, const std::function<Status()>& run,
                        wire::Writer* out) {
  try {
    return Run(
        named.served, run, named.bound->given,
        [&] { return std::as_const(named.binding()).outputs(); }, out);
  } catch (...) {
    return backend::StatusOfException("the backend");
  }
}

Status Server::ForwardMany(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(const Named named, NamedBy(in));
  const auto count = static_cast<int64_t>(in->Number());
  ASSAY_RETURN_IF_ERROR(in->Fault());
  wire::Writer runs;
  ASSAY_ASSIGN_OR_RETURN(const auto spent,
                         RunMany(named.network(), named.binding(), count,
                                 [&](std::span<const Value> outputs) {
                                   runs.Put(outputs);
                                   return true;
                                 }));
  out->Put(static_cast<uint64_t>(spent.count()));
  out->Append(runs);
  return OkStatus();
}

Status Server::ForwardEach(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(const Named named, NamedBy(in));
  const auto memory = in->ReadAll<Value>();
  const auto runs = in->ReadAll<std::vector<Value>>();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  return RunEach(named.network(), named.binding(), {memory, runs},
                 [&](std::span<const Value> outputs) {
                   out->Put(outputs);
                   return true;
                 });
}

Status Server::Synchronize(wire::Reader* in, wire::Writer*) {
  ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
  ASSAY_RETURN_IF_ERROR(in->Fault());
  return served->network->Synchronize();
}

Status Server::Backward(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(const Named named, NamedBy(in));
  const auto cotangents = in->ReadAll<Value>();
  const auto targets = in->ReadAll<std::string>();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  ASSAY_ASSIGN_OR_RETURN(Differentiable* const differentiable,
                         GradientsOf(named.network()));
  std::vector<Value> gradients;
  const auto run = [&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(
        gradients,
        differentiable->Backward(named.binding(), cotangents, targets));
    return OkStatus();
  };
  return Run(
      named.served, run, {}, [&] { return std::span<const Value>(gradients); },
      out);
}

/// Answers as many as make kEnough bytes; the other side asks for the rest
/// again.
Status Server::BackwardEach(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(const Named named, NamedBy(in));
  const uint64_t count = in->Number();
  uint64_t answered = 0;
  wire::Writer each;
  const auto run = [&]() -> Status {
    bool ok = true;
    while (ok && answered < count && each.bytes().size() < kEnough) {
      const auto cotangents = in->ReadAll<Value>();
      const auto targets = in->ReadAll<std::string>();
      if (in->faulty()) return in->Fault();
      const BackwardAsk ask = {cotangents, targets};
      const Pulled pulled =
          host::BackwardEach(named.network(), named.binding(), {&ask, 1})[0];
      ok = pulled.gradients.ok();
      each.Put(static_cast<uint64_t>(pulled.took.count()));
      each.Put(pulled.gradients.status());
      if (ok) each.Put(*pulled.gradients);
      ++answered;
    }
    return OkStatus();
  };
  const auto no_values = [] { return std::span<const Value>(); };
  ASSAY_RETURN_IF_ERROR(Run(named.served, run, {}, no_values, out));
  out->Put(answered);
  out->Append(each);
  return OkStatus();
}

Status Server::BindBackward(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(const Named named, NamedBy(in));
  const uint64_t number = in->Number();
  const auto cotangents = in->ReadAll<Value>();
  const auto targets = in->ReadAll<std::string>();
  auto given = in->ReadAll<Value>();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  ASSAY_ASSIGN_OR_RETURN(Differentiable* const differentiable,
                         GradientsOf(named.network()));
  auto made = std::make_unique<BoundGradients>();
  ASSAY_ASSIGN_OR_RETURN(
      made->gradients, differentiable->BindBackward(named.binding(), cotangents,
                                                    targets, given));
  out->Put(made->gradients != nullptr);
  if (made->gradients == nullptr) return OkStatus();
  made->given = std::move(given);
  const std::lock_guard lock(mutex_);
  gradients_[number] = std::move(made);
  return OkStatus();
}

Status Server::RunBackward(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
  const uint64_t number = in->Number();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  ASSAY_ASSIGN_OR_RETURN(BoundGradients* const bound,
                         Find(gradients_, number, "bound gradient"));
  ASSAY_ASSIGN_OR_RETURN(Differentiable* const differentiable,
                         GradientsOf(*served->network));
  GradientBinding& gradients = *bound->gradients;
  return Run(
      served, [&] { return differentiable->RunBackward(gradients); },
      bound->given, [&] { return std::as_const(gradients).gradients(); }, out);
}

Status Server::Step(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(const Named named, NamedBy(in));
  const std::string loss = in->Text();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  ASSAY_ASSIGN_OR_RETURN(
      NativeStep* const native,
      Offered(named.network().native_step(), "no optimizer any more"));
  return RunBound(
      named, [&] { return native->Step(named.binding(), loss); }, out);
}

Status Server::EndCase(wire::Reader*, wire::Writer* out) {
  const CaseEnd end = end_();
  out->Put(end.changed, end.n_libraries, end.replace,
           static_cast<uint64_t>(end.peak_rss_kb));
  return OkStatus();
}

}  // namespace assay::host
