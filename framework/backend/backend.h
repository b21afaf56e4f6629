// SPDX-License-Identifier: Apache-2.0
//
// Backend, Network and Binding: what a vendor implements, and all that the
// suites know of it.
//
//   ASSAY_ASSIGN_OR_RETURN(auto network, backend.Load(model, {}));
//   ASSAY_ASSIGN_OR_RETURN(auto binding, network->Bind(inputs, {}));
//   ASSAY_RETURN_IF_ERROR(network->Forward(*binding));
//   ASSAY_RETURN_IF_ERROR(network->Synchronize());
//   const Value& y = binding->outputs()[0];
//
// A backend declines what it cannot run at Load, or at Bind once types and
// shapes are known, with an `unsupported` Status; never from Forward. Timing,
// events and comparison are not its job.
//
// Thread rule: a Backend may be used from several threads; a Network and its
// Bindings from one at a time.

#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/backend/identity/probe.h"
#include "framework/backend/network_interfaces.h"
#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"

namespace assay::inline v1 {

enum class Mode : uint8_t { kInference, kTraining };

/// The purpose of a loaded network.
struct LoadOptions {
  Mode mode = Mode::kInference;
  /// Values of the main graph that Bind yields after the declared outputs.
  std::vector<std::string> extra_outputs;
  /// In mode kTraining: the initializers that Parameters lists, to be written
  /// between runs. Every other one is fixed, as in inference, but those that
  /// are gradient targets. Not found for a name that is no initializer of
  /// floating point.
  std::vector<std::string> trainable;
  /// The superset of the values that gradients may be asked for; each call of
  /// Differentiable::Backward names a subset. Empty: no backward.
  std::vector<std::string> gradient_targets;
  /// True when Network::exact will be asked for.
  bool exact = false;
  Settings settings;
};

/// Inputs and outputs tied to a network, ready to run any number of times.
class Binding {
 public:
  virtual ~Binding() = default;
  Binding() = default;
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;

  /// One per declared and extra output, in order. Caller-owned where the
  /// caller gave memory; else allocated by Forward and valid until the next. A
  /// copy of such a Value keeps its bytes: memory of the network's own that
  /// somebody else still holds is not written into again.
  virtual std::span<const Value> outputs() const = 0;
};

/// A loaded model.
class Network {
 public:
  virtual ~Network() = default;
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// The inputs of Bind, in order: the graph's inputs without an initializer.
  virtual std::span<const ValueInfo> inputs() const = 0;
  /// The outputs of Bind: the graph's outputs, then the extra outputs.
  virtual std::span<const ValueInfo> outputs() const = 0;

  /// Ties values to the network. `inputs` has one value per input (absent
  /// ones are default Values). `outputs` is empty, or has one value per output:
  /// a tensor of the caller's to write into, or a default Value. Invalid
  /// argument for a wrong count, kind, element type or shape, with the name.
  /// The network must outlive the binding.
  virtual Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) = 0;

  /// Runs the bound values. May return before the work is done; results may
  /// be read after Synchronize.
  virtual Status Forward(Binding& binding) = 0;
  virtual Status Synchronize() { return OkStatus(); }

  /// Optional interfaces; null when the backend does not offer one.
  virtual Differentiable* differentiable() { return nullptr; }
  virtual Parameters* parameters() { return nullptr; }
  virtual NativeStep* native_step() { return nullptr; }
  virtual Draws* draws() { return nullptr; }
  virtual Placement* placement() { return nullptr; }
  virtual Exact* exact() { return nullptr; }
};

class Backend {
 public:
  virtual ~Backend() = default;
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// The name it is selected by: lower case, stable.
  virtual std::string_view name() const = 0;

  /// Version and device, or `unavailable` with the reason.
  virtual Result<Probe> Inspect() = 0;

  /// The same of a process in which Load is given these settings, as a run does
  /// before the first Load.
  virtual Result<Probe> InspectAs(const Settings& settings) {
    static_cast<void>(settings);
    return Inspect();
  }

  /// Prepares a model. `unsupported` with its reason when declined.
  virtual Result<std::unique_ptr<Network>> Load(
      std::shared_ptr<const Model> model, const LoadOptions& options) = 0;
};

/// Bind, Forward and Synchronize with values by name, for tests and tools.
/// Returns the outputs in order. Invalid argument for an unknown name and for
/// an input without a value whose declared type is not an optional.
Result<std::vector<Value>> Run(Network& network,
                               const std::map<std::string, Value>& inputs);

/// Checks a Bind call against what the network declares: counts, kinds,
/// element types, shapes, and that no output's memory overlaps that of an input
/// or of another output. Only an input of an optional type may be absent, and
/// only tensors may be given as outputs. Every Network calls it first.
Status CheckBind(std::span<const ValueInfo> declared_inputs,
                 std::span<const ValueInfo> declared_outputs,
                 std::span<const Value> inputs, std::span<const Value> outputs);

/// Checks the memory that a BindBackward call gives for `targets`, by their
/// names and types: counts, kinds, element types, shapes, and that no
/// gradient's memory overlaps that of another or of one of `others`, whose
/// names are `other_names`.
Status CheckGradients(std::span<const ValueInfo> targets,
                      std::span<const Value> gradients,
                      std::span<const ValueInfo> other_names,
                      std::span<const Value> others);

}  // namespace assay::inline v1
