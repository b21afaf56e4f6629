// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/server.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include "framework/backend/exception.h"
#include "framework/core/value_walk.h"
#include "framework/testing/host/runs.h"
#include "framework/testing/host/server_interfaces.h"

namespace assay::host {
namespace {

constexpr size_t kEnough = size_t{1} << 20;  // bytes of several gradients

/// True for a tensor with memory of this process that can be compared.
bool HasBytes(const Tensor& tensor) {
  return tensor.data() != nullptr && tensor.byte_size() > 0 &&
         tensor.device().kind == Device::Kind::kCpu;
}

size_t HashOf(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

bool InPlace(const Value& value, std::span<const Value> given, size_t index) {
  if (index >= given.size()) return false;
  const Tensor* const wanted = given[index].tensor();
  const Tensor* const got = value.tensor();
  return wanted != nullptr && got != nullptr && wanted->data() != nullptr &&
         wanted->data() == got->data() && wanted->dtype() == got->dtype() &&
         wanted->shape() == got->shape();
}

}  // namespace

template <class T>
Result<T*> Server::Find(std::map<uint64_t, std::unique_ptr<T>>& all,
                        uint64_t number, const char* what) {
  const std::lock_guard lock(mutex_);
  const auto found = all.find(number);
  if (found == all.end()) {
    return FailedPrecondition("there is no ", what, " of the number ", number);
  }
  return found->second.get();
}

void Server::Close(wire::Kind kind, uint64_t number) {
  const auto take = [&](auto& all) {
    const std::lock_guard lock(mutex_);
    const auto found = all.find(number);
    if (found == all.end())
      return typename std::decay_t<decltype(all)>::mapped_type();
    auto taken = std::move(found->second);
    all.erase(found);
    // Memory that is not shared may go with it.
    std::erase_if(held_,
                  [](const auto& held) { return !held.second.tensor.owned(); });
    return taken;
  };
  // Destroyed without the lock, for that is the backend's code.
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
                      std::vector<wire::Descriptor> descriptors) {
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
    for (wire::Descriptor& descriptor : descriptors) {
      const auto segment = static_cast<uint32_t>(in->Number());
      const Status added = segments_.Add(segment, descriptor.release());
      if (!added.ok()) in->Refuse(added.message());
    }
    if (generation > segments_generation_) segments_.KeepOnly(segments);
    segments_generation_ = std::max(segments_generation_, generation);
  }
  {
    const std::lock_guard lock(mutex_);
    for (const uint64_t issued : released) held_.erase(issued);
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
      ReadHead(&in, std::move(message->descriptors));
      answer = Answer(call, &in);
    } catch (...) {
      wire::Writer failed;
      failed.Put(backend::StatusOfException("the backend"));
      answer = std::move(failed).Take();
    }
    if (getpid() != owner_ || !channel->Send(answer).ok()) return;
  }
}

std::string Server::Answer(wire::Call call, wire::Reader* in) {
  wire::Writer out;
  out.Put(OkStatus());
  const Status status = Dispatch(call, in, &out);
  if (status.ok()) return std::move(out).Take();
  wire::Writer failed;
  failed.Put(status);
  return std::move(failed).Take();
}

Status Server::Dispatch(wire::Call call, wire::Reader* in, wire::Writer* out) {
  switch (call) {
    case wire::Call::kInspect:
      return Inspect(in, out);
    case wire::Call::kLoad:
      return Load(in, out);
    case wire::Call::kBind:
    case wire::Call::kBindAndRun:
      return Bind(call, in, out);
    case wire::Call::kForward:
      return Forward(in, out);
    case wire::Call::kForwardMany:
      return ForwardMany(in, out);
    case wire::Call::kForwardEach:
      return ForwardEach(in, out);
    case wire::Call::kSynchronize:
      return Synchronize(in);
    case wire::Call::kBackward:
      return Backward(in, out);
    case wire::Call::kBackwardEach:
      return BackwardEach(in, out);
    case wire::Call::kBindBackward:
      return BindBackward(in, out);
    case wire::Call::kRunBackward:
      return RunBackward(in, out);
    case wire::Call::kListParameters:
    case wire::Call::kReadParameter:
    case wire::Call::kWriteParameter:
    case wire::Call::kOptimizers:
    case wire::Call::kConfigure:
    case wire::Call::kDrawFrom: {
      ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
      return OfInterfaces(served->network.get(), call, in, out);
    }
    case wire::Call::kStep:
      return Step(in, out);
    case wire::Call::kCaseEnd:
      return EndCase(out);
    case wire::Call::kThread:
      break;
  }
  return DataLoss("found the call ", static_cast<uint64_t>(call),
                  ", which there is not");
}

Status Server::Inspect(wire::Reader* in, wire::Writer* out) {
  const auto options = in->Read<LoadOptions>();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  ASSAY_ASSIGN_OR_RETURN(const Probe probe,
                         backend_.InspectAs(options.settings));
  out->Put(probe.version);
  out->Put(probe.device);
  out->PutAll(probe.isa);
  return OkStatus();
}

Status Server::Load(wire::Reader* in, wire::Writer* out) {
  const uint64_t number = in->Number();
  ASSAY_ASSIGN_OR_RETURN(auto model, models_.Read(in));
  const auto options = in->Read<LoadOptions>();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  auto served = std::make_unique<Served>();
  ASSAY_ASSIGN_OR_RETURN(served->network,
                         backend_.Load(std::move(model), options));
  out->Put(uint64_t{served->network != nullptr ? 1U : 0U});
  if (served->network == nullptr) return OkStatus();
  out->PutAll(served->network->inputs());
  out->PutAll(served->network->outputs());
  out->Put(OfferedBy(*served->network));
  PutPlaced(served.get(), out);
  const std::lock_guard lock(mutex_);
  networks_[number] = std::move(served);
  return OkStatus();
}

void Server::PutPlaced(Served* served, wire::Writer* out) {
  wire::Writer now;
  if (Placement* const placement = served->network->placement()) {
    now.PutAll(std::as_const(*placement).Placed());
  }
  const bool same = now.bytes() == served->placed;
  out->Put(same ? std::string_view() : std::string_view(now.bytes()));
  if (!same) served->placed = now.bytes();
}

Result<Server::Served*> Server::Self(wire::Reader* in) {
  return Find(networks_, in->Number(), "network");
}

Status Server::Bind(wire::Call call, wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
  Network* const network = served->network.get();
  const uint64_t number = in->Number();
  const auto inputs = in->ReadAll<Value>();
  auto outputs = in->ReadAll<Value>();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  auto bound = std::make_unique<Bound>();
  ASSAY_ASSIGN_OR_RETURN(bound->binding, network->Bind(inputs, outputs));
  out->Put(uint64_t{bound->binding != nullptr ? 1U : 0U});
  if (bound->binding == nullptr) return OkStatus();
  bound->given = std::move(outputs);
  if (call == wire::Call::kBindAndRun) {
    wire::Writer run;
    const Status ran = RunBound(served, bound.get(), &run);
    out->Put(ran);
    if (ran.ok()) out->Append(run);
  }
  const std::lock_guard lock(mutex_);
  bindings_[number] = std::move(bound);
  return OkStatus();
}

void Server::PutChanged(wire::Writer* out) {
  const std::lock_guard lock(mutex_);
  std::vector<uint64_t> changed;
  for (auto& [number, held] : held_) {
    const size_t hash = HashOf(held.tensor);
    if (std::exchange(held.hash, hash) != hash) changed.push_back(number);
  }
  out->Put(uint64_t{changed.size()});
  for (const uint64_t number : changed) {
    const auto bytes = held_[number].tensor.bytes();
    out->Put(number);
    out->Put(std::string_view(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size()));
  }
}

void Server::PutResult(const Value& value, bool in_place, wire::Writer* out) {
  if (in_place) return out->Put(static_cast<uint64_t>(wire::Came::kInPlace));
  const std::lock_guard lock(mutex_);
  bool alias = false;
  ForEachTensor(value, [&](const Tensor& tensor) {
    alias = alias || segments_.Holds(tensor.data());
  });
  out->Put(
      static_cast<uint64_t>(alias ? wire::Came::kAlias : wire::Came::kValue));
  out->Put(value);
  if (alias) return;
  out->Put(next_issued_);
  ForEachTensor(value, [&](const Tensor& tensor) {
    if (HasBytes(tensor)) held_[next_issued_++] = {tensor, HashOf(tensor)};
  });
}

Status Server::Run(Served* served, const std::function<Status()>& run,
                   std::span<const Value> given,
                   const std::function<std::span<const Value>()>& values,
                   wire::Writer* out) {
  ASSAY_RETURN_IF_ERROR(run());
  const Status synchronized = served->network->Synchronize();
  PutChanged(out);
  PutPlaced(served, out);
  out->Put(synchronized);
  if (!synchronized.ok()) return OkStatus();
  const std::span<const Value> got = values();
  out->Put(uint64_t{got.size()});
  for (size_t i = 0; i < got.size(); ++i) {
    PutResult(got[i], InPlace(got[i], given, i), out);
  }
  return OkStatus();
}

Status Server::Forward(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
  const uint64_t number = in->Number();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  ASSAY_ASSIGN_OR_RETURN(Bound* const bound,
                         Find(bindings_, number, "binding"));
  return RunBound(served, bound, out);
}

Status Server::RunBound(Served* served, Bound* bound, wire::Writer* out) {
  Binding& binding = *bound->binding;
  try {
    return Run(
        served, [&] { return served->network->Forward(binding); }, bound->given,
        [&] { return std::as_const(binding).outputs(); }, out);
  } catch (...) {
    return backend::StatusOfException("the backend");
  }
}

Status Server::ForwardMany(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
  ASSAY_ASSIGN_OR_RETURN(Bound* const bound,
                         Find(bindings_, in->Number(), "binding"));
  const auto count = static_cast<int64_t>(in->Number());
  ASSAY_RETURN_IF_ERROR(in->Fault());
  wire::Writer runs;
  ASSAY_ASSIGN_OR_RETURN(const auto spent,
                         RunMany(*served->network, *bound->binding, count,
                                 [&](std::span<const Value> outputs) {
                                   runs.PutAll(outputs);
                                   return true;
                                 }));
  out->Put(static_cast<uint64_t>(spent.count()));
  out->Append(runs);
  return OkStatus();
}

Status Server::ForwardEach(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
  ASSAY_ASSIGN_OR_RETURN(Bound* const bound,
                         Find(bindings_, in->Number(), "binding"));
  const auto memory = in->ReadAll<Value>();
  std::vector<std::vector<Value>> runs;
  for (uint64_t n = in->Number(); n > 0 && !in->faulty(); --n) {
    runs.push_back(in->ReadAll<Value>());
  }
  ASSAY_RETURN_IF_ERROR(in->Fault());
  return RunEach(*served->network, *bound->binding, {memory, runs},
                 [&](std::span<const Value> outputs) {
                   out->PutAll(outputs);
                   return true;
                 });
}

Status Server::Synchronize(wire::Reader* in) {
  ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
  Network* const network = served->network.get();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  return network->Synchronize();
}

Status Server::Backward(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
  Network* const network = served->network.get();
  ASSAY_ASSIGN_OR_RETURN(Bound* const bound,
                         Find(bindings_, in->Number(), "binding"));
  const auto cotangents = in->ReadAll<Value>();
  const auto targets = in->ReadAll<std::string>();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  Differentiable* const differentiable = network->differentiable();
  if (differentiable == nullptr) return Internal("no gradients any more");
  std::vector<Value> gradients;
  const auto run = [&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(
        gradients,
        differentiable->Backward(*bound->binding, cotangents, targets));
    return OkStatus();
  };
  return Run(
      served, run, {}, [&] { return std::span<const Value>(gradients); }, out);
}

/// Answers as many as make kEnough bytes; the other side asks for the rest
/// again.
Status Server::BackwardEach(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
  ASSAY_ASSIGN_OR_RETURN(Bound* const bound,
                         Find(bindings_, in->Number(), "binding"));
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
          host::BackwardEach(*served->network, *bound->binding, {&ask, 1})[0];
      ok = pulled.gradients.ok();
      each.Put(static_cast<uint64_t>(pulled.took.count()));
      each.Put(pulled.gradients.status());
      if (ok) each.PutAll(*pulled.gradients);
      ++answered;
    }
    return OkStatus();
  };
  const auto no_values = [] { return std::span<const Value>(); };
  ASSAY_RETURN_IF_ERROR(Run(served, run, {}, no_values, out));
  out->Put(answered);
  out->Append(each);
  return OkStatus();
}

Status Server::BindBackward(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
  Network* const network = served->network.get();
  ASSAY_ASSIGN_OR_RETURN(Bound* const bound,
                         Find(bindings_, in->Number(), "binding"));
  const uint64_t number = in->Number();
  const auto cotangents = in->ReadAll<Value>();
  const auto targets = in->ReadAll<std::string>();
  auto given = in->ReadAll<Value>();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  Differentiable* const differentiable = network->differentiable();
  if (differentiable == nullptr) return Internal("no gradients any more");
  auto made = std::make_unique<BoundGradients>();
  ASSAY_ASSIGN_OR_RETURN(
      made->gradients, differentiable->BindBackward(*bound->binding, cotangents,
                                                    targets, given));
  out->Put(uint64_t{made->gradients != nullptr ? 1U : 0U});
  if (made->gradients == nullptr) return OkStatus();
  made->given = std::move(given);
  const std::lock_guard lock(mutex_);
  gradients_[number] = std::move(made);
  return OkStatus();
}

Status Server::RunBackward(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
  Network* const network = served->network.get();
  const uint64_t number = in->Number();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  ASSAY_ASSIGN_OR_RETURN(BoundGradients* const bound,
                         Find(gradients_, number, "bound gradient"));
  Differentiable* const differentiable = network->differentiable();
  if (differentiable == nullptr) return Internal("no gradients any more");
  GradientBinding& gradients = *bound->gradients;
  return Run(
      served, [&] { return differentiable->RunBackward(gradients); },
      bound->given, [&] { return std::as_const(gradients).gradients(); }, out);
}

Status Server::Step(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
  Network* const network = served->network.get();
  const uint64_t number = in->Number();
  const std::string loss = in->Text();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  ASSAY_ASSIGN_OR_RETURN(Bound* const bound,
                         Find(bindings_, number, "binding"));
  NativeStep* const native = network->native_step();
  if (native == nullptr) return Internal("no optimizer any more");
  Binding& binding = *bound->binding;
  return Run(
      served, [&] { return native->Step(binding, loss); }, bound->given,
      [&] { return std::as_const(binding).outputs(); }, out);
}

Status Server::EndCase(wire::Writer* out) {
  const CaseEnd end = end_();
  out->Put(end.changed);
  out->Put(end.n_libraries);
  out->Put(uint64_t{end.replace ? 1U : 0U});
  out->Put(static_cast<uint64_t>(end.peak_rss_kb));
  return OkStatus();
}

}  // namespace assay::host
