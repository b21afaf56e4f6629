// SPDX-License-Identifier: Apache-2.0
//
// RemoteNetwork: a network that a host has loaded, with its bindings and all its
// interfaces. remote_backend.h makes them.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/exact.h"
#include "framework/testing/host/link.h"
#include "framework/testing/host/mirror.h"
#include "framework/testing/host/runs.h"

namespace assay::host {

/// What a network says of itself when it is loaded.
struct Declared {
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  uint64_t offered = 0;  // bits of Offered
  std::string placed;    // where nodes ran so far, as Server writes it
};

/// A number at a host, closed there when this ends.
class Numbered {
 public:
  Numbered(Link& link, wire::Kind kind, uint64_t number)
      : link_(link),
        kind_(kind),
        number_(number),
        generation_(link.generation()) {}
  Numbered(const Numbered&) = delete;
  Numbered& operator=(const Numbered&) = delete;
  ~Numbered() {
    if (generation_ == link_.generation()) link_.CloseLater(kind_, number_);
  }

  /// Zero, which no host knows, where the one that gave it is gone.
  uint64_t get() const {
    return generation_ == link_.generation() ? number_ : 0;
  }

 private:
  Link& link_;
  wire::Kind kind_;
  uint64_t number_;
  uint64_t generation_;
};

/// Values that a host wrote, or wrote into memory that was given for them.
class Results {
 public:
  Results(std::span<const Value> given, size_t count)
      : given_(given.begin(), given.end()), values_(count) {
    given_.resize(count);
    values_ = given_;
  }

  std::span<const Value> values() const { return values_; }
  /// The host may use their memory again, unless somebody else holds it.
  void Drop();
  /// Reads what Server wrote: one entry a value. Those that are memory of the
  /// host's are issued.
  void Read(Link& link, wire::Reader* in);
  std::vector<Value> Take() { return std::move(values_); }

 private:
  std::vector<Value> given_;
  std::vector<Value> values_;
};

class RemoteBinding : public Binding {
 public:
  RemoteBinding(Link& link, uint64_t number, Mirror mirror, Results results)
      : number_(link, wire::Kind::kBinding, number),
        mirror_(std::move(mirror)),
        results_(std::move(results)) {}

  std::span<const Value> outputs() const override { return results_.values(); }

 private:
  friend class RemoteNetwork;
  Numbered number_;
  Mirror mirror_;
  Results results_;
};

class RemoteGradients : public GradientBinding {
 public:
  RemoteGradients(Link& link, uint64_t number, RemoteBinding& binding,
                  Mirror mirror, Results results)
      : number_(link, wire::Kind::kGradients, number),
        binding_(binding),
        mirror_(std::move(mirror)),
        results_(std::move(results)) {}

  std::span<const Value> gradients() const override {
    return results_.values();
  }

 private:
  friend class RemoteNetwork;
  Numbered number_;
  RemoteBinding& binding_;
  Mirror mirror_;
  Results results_;
};

class RemoteNetwork : public Network,
                      public InOneCall,
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
      std::span<const Value> inputs, std::span<const Value> outputs) override;
  Result<FirstRun> BindAndRun(std::span<const Value> inputs,
                              std::span<const Value> outputs) override;
  Status Forward(Binding& binding) override;
  Result<std::chrono::nanoseconds> RunMany(Binding& binding, int64_t count,
                                           const SeesRun& sees) override;
  Status RunEach(Binding& binding, const Refill& refill,
                 const SeesRun& sees) override;
  std::vector<Pulled> BackwardEach(Binding& binding,
                                   std::span<const BackwardAsk> asks) override;
  Status Synchronize() override;

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

  std::vector<std::string> List() const override;
  Result<Tensor> Read(std::string_view name) const override;
  Status Write(std::string_view name, const Tensor& value) override;

  std::vector<std::string> Optimizers() const override;
  Status Configure(
      std::string_view optimizer,
      const std::map<std::string, double>& hyperparameters) override;
  Status Step(Binding& binding, std::string_view loss) override;

  Status DrawFrom(uint64_t run_seed, int64_t step) override;

  std::vector<PlacedNode> Placed() const override;

  Result<std::unique_ptr<ExactRun>> At(
      std::span<const Value> inputs,
      std::span<const std::string> targets) override;

 private:
  /// This, where the network offers the interface.
  RemoteNetwork* If(wire::Offered interface) {
    return (declared_.offered & interface) != 0 ? this : nullptr;
  }
  /// Asks a call that binds; `first`, where given, gets what its run says.
  Result<std::unique_ptr<Binding>> AskToBind(wire::Call call,
                                             std::span<const Value> inputs,
                                             std::span<const Value> outputs,
                                             Status* first);
  /// Reads what a run says: what changed of the tensors that are held, the
  /// status of synchronizing, and the values.
  void ReadRun(wire::Reader* in, Results* results);
  /// `then` reads what the answer says besides.
  Status Run(wire::Call call, const wire::Writer& what,
             std::initializer_list<const Mirror*> mirrors, Results* results,
             const std::function<void(wire::Reader*)>& then = {});
  /// Adds what the host answers to the first of the asks, one or more.
  Status AskSome(RemoteBinding& binding, std::span<const BackwardAsk> asks,
                 std::vector<Pulled>* all);

  Link& link_;
  Numbered number_;
  Declared declared_;
  bool synchronized_ = false;  // by the last run
  Status synchronize_;         // what that said
};

}  // namespace assay::host
