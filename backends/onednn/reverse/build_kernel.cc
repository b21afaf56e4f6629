// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/reverse/build_kernel.h"

#include <omp.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "backends/onednn/primitive/device.h"
#include "backends/onednn/reverse/reverse.h"
#include "framework/backend/backend.h"

namespace assay::onednn {
namespace {

constexpr char kMadeForShapes[] = "onednn, made for each set of shapes";

/// False where derivatives are zero.
bool Passes(const Taped& entry) {
  const Rule* const rule = FindRule(entry);
  return rule == nullptr || rule->passes(entry);
}

bool AnyOperandLeads(const Reverse& reverse, const Taped& entry) {
  return std::ranges::any_of(entry.arguments, [&](const Argument& argument) {
    return !IsResult(entry, argument.name) && reverse.Leads(argument.memory);
  });
}

bool AnyResultFlows(const Reverse& reverse, const Taped& entry) {
  return std::ranges::any_of(entry.arguments, [&](const Argument& argument) {
    return IsResult(entry, argument.name) && reverse.Leads(argument.memory) &&
           reverse.Flows(argument.memory);
  });
}

/// Marks what is computed from the wanted inputs.
void Spread(Reverse& reverse) {
  for (const Taped& entry : reverse.tape().entries) {
    if (!Passes(entry) || !AnyOperandLeads(reverse, entry)) continue;
    for (const Argument& argument : entry.arguments) {
      if (IsResult(entry, argument.name)) reverse.Lead(argument.memory);
    }
  }
}

/// No primitive writes where another, before it, has read or written.
Status CheckApart(const Reverse& reverse) {
  std::set<dnnl_memory_t> seen;
  for (const Taped& entry : reverse.tape().entries) {
    for (const Argument& argument : entry.arguments) {
      if (IsResult(entry, argument.name) && reverse.Leads(argument.memory) &&
          seen.contains(argument.memory.get())) {
        return NoBackward("a chain that works in place");
      }
    }
    for (const Argument& argument : entry.arguments) {
      seen.insert(argument.memory.get());
    }
  }
  return OkStatus();
}

/// True when some number flows back.
bool AnyFlows(const Tape& tape, const Asked& asked) {
  return std::ranges::any_of(asked.outputs, [&](int position) {
    return Product(tape.outputs.at(position).shape.dims()) > 0;
  });
}

/// Appends to `chain` the tape run backward: from its end, each primitive
/// between a wanted input and a given cotangent by its rule. All tensors of the
/// node that carry gradients are float32. Unsupported, reason gradient, where
/// oneDNN has no backward of a primitive, or one has overwritten what backward
/// reads.
Status WalkBack(const Tape& tape, const Asked& asked, ChainBuilder& chain) {
  if (!AnyFlows(tape, asked)) return OkStatus();
  Reverse reverse(tape, chain, asked);
  Spread(reverse);
  ASSAY_RETURN_IF_ERROR(CheckApart(reverse));
  for (size_t i = tape.entries.size(); i-- > 0;) {
    const Taped& entry = tape.entries[i];
    if (!Passes(entry) || !AnyOperandLeads(reverse, entry)) continue;
    if (!AnyResultFlows(reverse, entry)) continue;
    const Rule* const rule = FindRule(entry);
    if (rule == nullptr) return NoBackward("a primitive of this node");
    ASSAY_RETURN_IF_ERROR(rule->append(reverse, entry));
  }
  return OkStatus();
}

/// The facts of a chain that is made of memories: it asks for none.
class NoFacts final : public Facts {
 public:
  const ValueType& type(Input) const override { return none_; }
  const Tensor* fixed(Input) const override { return nullptr; }
  Result<const Tensor*> value(Input) const override { return nullptr; }

 private:
  ValueType none_;
};

/// A node's chain in a network with gradient targets, with the memory that its
/// run leaves for backward (workspaces, statistics, values between primitives),
/// and the chains that run it backward, one for each set of given cotangents
/// and wanted gradients, made when it is first asked for. It belongs to one
/// binding, and so does the thread rule of that.
class Differentiated {
 public:
  Differentiated(const dnnl::engine& engine, int threads,
                 std::shared_ptr<Chain> chain, Tape tape)
      : engine_(engine),
        threads_(threads),
        chain_(std::move(chain)),
        tape_(std::move(tape)) {}

  /// Unsupported, reason gradient, where some gradient of these inputs is not
  /// to be had.
  Status Try(const std::set<int>& inputs) {
    return ChainFor(AllOutputs(inputs)).status();
  }

  Status Run(KernelContext& run) { return chain_->Run(run); }
  Status RunBackward(GradientContext& run);

 private:
  Asked AllOutputs(const std::set<int>& inputs) const;
  Result<Chain*> ChainFor(const Asked& asked);
  /// True where this run asks for the same gradients as the last one.
  bool IsLast(GradientContext& run) const;

  dnnl::engine engine_;
  int threads_;
  std::shared_ptr<Chain> chain_;
  Tape tape_;
  std::map<Asked, std::shared_ptr<Chain>> backward_;
  Asked last_asked_;
  Chain* last_ = nullptr;  // one of backward_
};

Asked Differentiated::AllOutputs(const std::set<int>& inputs) const {
  Asked asked{.inputs = inputs};
  for (const auto& [position, type] : tape_.outputs) {
    if (type.dtype == DType::kFloat32) asked.outputs.insert(position);
  }
  return asked;
}

Result<Chain*> Differentiated::ChainFor(const Asked& asked) {
  const auto found = backward_.find(asked);
  if (found != backward_.end()) return found->second.get();
  omp_set_num_threads(threads_);
  const NoFacts facts;
  ChainBuilder builder(engine_, facts, threads_);
  builder.DeclineFor(Reason::kGradient);
  ASSAY_ASSIGN_OR_RETURN(std::shared_ptr<Chain> chain,
                         FillChain(builder, [&](ChainBuilder& chain) {
                           return WalkBack(tape_, asked, chain);
                         }));
  return backward_.emplace(asked, std::move(chain)).first->second.get();
}

bool Differentiated::IsLast(GradientContext& run) const {
  if (last_ == nullptr) return false;
  for (const auto& [position, type] : tape_.inputs) {
    const bool is_wanted = run.wanted({position, true});
    if (is_wanted != last_asked_.inputs.contains(position)) return false;
  }
  for (const auto& [position, type] : tape_.outputs) {
    const bool has_cotangent = run.cotangent({position, true}) != nullptr;
    if (has_cotangent != last_asked_.outputs.contains(position)) return false;
  }
  return true;
}

Status Differentiated::RunBackward(GradientContext& run) {
  if (IsLast(run)) return last_->RunBackward(run);
  Asked asked;
  for (const auto& [position, type] : tape_.inputs) {
    if (run.wanted({position, true})) asked.inputs.insert(position);
  }
  for (const auto& [position, type] : tape_.outputs) {
    if (run.cotangent({position, true}) != nullptr) {
      asked.outputs.insert(position);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(last_, ChainFor(asked));
  last_asked_ = std::move(asked);
  return last_->RunBackward(run);
}

/// Unsupported, reason gradient, where primitives are made for the numbers of
/// one of these inputs: a gradient of it is not to be had.
Status CheckNumbers(const Tape& tape, const std::set<int>& inputs) {
  for (const int position : tape.numbers) {
    if (!inputs.contains(position)) continue;
    return NoBackward(
        StrCat("input ", position, ", whose numbers primitives are made for"));
  }
  return OkStatus();
}

class LoadFacts final : public Facts {
 public:
  explicit LoadFacts(const LoadContext& load) : load_(load) {}
  const ValueType& type(Input input) const override {
    return load_.type(input);
  }
  const Tensor* fixed(Input input) const override {
    return load_.constant(input);
  }
  Result<const Tensor*> value(Input input) const override {
    return fixed(input);
  }

 private:
  const LoadContext& load_;
};

/// The facts of a binding, and those of them that the model fixes.
class BoundFacts final : public Facts {
 public:
  BoundFacts(PrepareContext& known, const std::vector<const Tensor*>& fixed)
      : known_(known), fixed_(fixed) {}
  const ValueType& type(Input input) const override {
    return known_.type(input);
  }
  const Tensor* fixed(Input input) const override {
    const auto at = static_cast<size_t>(input.position);
    return at < fixed_.size() ? fixed_[at] : nullptr;
  }
  Result<const Tensor*> value(Input input) const override {
    const Tensor* const tensor = fixed(input);
    if (tensor != nullptr) return tensor;
    return known_.value(input);
  }

 private:
  PrepareContext& known_;
  const std::vector<const Tensor*>& fixed_;  // by position
};

/// Asks by an activation if this machine computes with these types.
Status Probe(const dnnl::engine& engine,
             const std::vector<memory::data_type>& types) {
  for (const memory::data_type type : types) {
    const memory::desc vector({1}, type, memory::format_tag::a);
    const dnnl::eltwise_forward::primitive_desc probe(
        engine, kInference, dnnl::algorithm::eltwise_relu, vector, vector, 0.0F,
        0.0F, ChainBuilder::attr(), true);
    if (probe.get(true) != nullptr) continue;
    return Unsupported(Reason::kDType, "oneDNN has no kernels for this ",
                       "element type on this machine");
  }
  return OkStatus();
}

bool Empty(const ValueType& type) {
  const std::optional<Shape> shape = type.StaticShape();
  return shape.has_value() &&
         std::ranges::find(shape->dims(), 0) != shape->dims().end();
}

/// Every output has elements as far as is known, and some input has none.
Status CheckElements(const LoadContext& load,
                     const std::vector<Input>& inputs) {
  const auto no_elements = [&load](Input input) {
    return Empty(load.type(input));
  };
  if (std::ranges::none_of(inputs, no_elements)) return OkStatus();
  for (size_t i = 0; i < load.node().outputs.size(); ++i) {
    const Output output = {static_cast<int>(i), true};
    if (Empty(load.type(output))) continue;
    return Unsupported(Reason::kShape,
                       "an input has no elements and an output may have some; "
                       "oneDNN leaves such an output unwritten");
  }
  return OkStatus();
}

std::vector<const Tensor*> FixedInputs(const LoadContext& load) {
  std::vector<const Tensor*> fixed;
  for (size_t i = 0; i < load.node().inputs.size(); ++i) {
    fixed.push_back(load.constant({static_cast<int>(i), true}));
  }
  return fixed;
}

/// A kernel whose chain each binding makes.
Result<Kernel> MakePrepared(const dnnl::engine& engine, const LoadContext& load,
                            const ChainBuilder& tried, int threads, Fill fill) {
  ASSAY_RETURN_IF_ERROR(Probe(engine, tried.computes()));
  ASSAY_RETURN_IF_ERROR(CheckElements(load, tried.seen()));
  Kernel kernel{
      .forward =
          [](KernelContext& run) { return run.prepared<Chain>().Run(run); },
      .executor = kMadeForShapes};
  kernel.prepare = [engine, threads, fill = std::move(fill),
                    fixed =
                        FixedInputs(load)](PrepareContext& known) -> Prepared {
    omp_set_num_threads(threads);
    const BoundFacts facts(known, fixed);
    ChainBuilder builder(engine, facts, threads);
    ASSAY_ASSIGN_OR_RETURN(const auto chain, FillChain(builder, fill));
    chain->DeclareOutputs(known);
    return chain;
  };
  return kernel;
}

/// The inputs that may have gradients. None where nothing flows from an output
/// to an input; unsupported where something else than float32 does.
Result<std::set<int>> Differentiable(const LoadContext& load) {
  std::set<int> inputs;
  bool plain = true;
  const auto carries = [&plain](const ValueType& type) {
    const bool real = type.kind == ValueKind::kTensor &&
                      ClassOf(type.dtype) == DTypeClass::kFloat;
    plain = plain && (!real || type.dtype == DType::kFloat32);
    return real;
  };
  for (size_t i = 0; i < load.node().inputs.size(); ++i) {
    const Input input = {static_cast<int>(i), true};
    if (load.node().inputs[i] == kNoValue) continue;
    if (load.constant(input) != nullptr || !carries(load.type(input))) continue;
    inputs.insert(input.position);
  }
  bool any = false;
  for (size_t i = 0; i < load.node().outputs.size(); ++i) {
    const Output output = {static_cast<int>(i), true};
    if (load.node().outputs[i] == kNoValue) continue;
    any = carries(load.type(output)) || any;
  }
  if (!any) return std::set<int>();
  if (plain) return inputs;
  return Unsupported(Reason::kGradient,
                     "gradients of other types than float32 depend on the "
                     "processor in oneDNN");
}

/// The kernel of a node in a network with gradient targets; unsupported where
/// it has no backward.
Result<Kernel> BuildDifferentiated(const dnnl::engine& engine,
                                   const LoadContext& load, int threads,
                                   const Fill& fill,
                                   const std::set<int>& inputs) {
  const LoadFacts facts(load);
  Tape tape;
  ChainBuilder builder(engine, facts, threads, &tape);
  const Result<std::shared_ptr<Chain>> chain = FillChain(builder, fill);
  ASSAY_RETURN_IF_ERROR(CheckNumbers(tape, inputs));
  std::string executor = kMadeForShapes;
  if (chain.ok()) {
    Differentiated tried(engine, threads, *chain, std::move(tape));
    ASSAY_RETURN_IF_ERROR(tried.Try(inputs));
    executor = builder.executor();
  } else if (!builder.waits() ||
             chain.status().code() != StatusCode::kUnsupported) {
    return chain.status();
  } else {
    ASSAY_RETURN_IF_ERROR(Probe(engine, builder.computes()));
    ASSAY_RETURN_IF_ERROR(CheckElements(load, builder.seen()));
  }
  Kernel kernel{.forward =
                    [](KernelContext& run) {
                      return run.prepared<Differentiated>().Run(run);
                    },
                .backward =
                    [](GradientContext& run) {
                      return run.prepared<Differentiated>().RunBackward(run);
                    },
                .executor = std::move(executor)};
  kernel.prepare = [engine, threads, fill, inputs, fixed = FixedInputs(load)](
                       PrepareContext& known) -> Prepared {
    omp_set_num_threads(threads);
    const BoundFacts facts(known, fixed);
    Tape tape;
    ChainBuilder builder(engine, facts, threads, &tape);
    ASSAY_ASSIGN_OR_RETURN(auto chain, FillChain(builder, fill));
    chain->DeclareOutputs(known);
    auto made = std::make_shared<Differentiated>(
        engine, threads, std::move(chain), std::move(tape));
    ASSAY_RETURN_IF_ERROR(made->Try(inputs));
    return made;
  };
  return kernel;
}

}  // namespace

Result<Kernel> BuildKernel(const dnnl::engine& engine, LoadContext& load,
                           Fill fill) {
  ASSAY_ASSIGN_OR_RETURN(const int threads,
                         ReadThreads(load.options().settings));
  omp_set_num_threads(threads);
  if (!load.options().gradient_targets.empty()) {
    const Result<std::set<int>> inputs = Differentiable(load);
    if (inputs.ok() && !inputs->empty()) {
      Result<Kernel> kernel =
          BuildDifferentiated(engine, load, threads, fill, *inputs);
      if (kernel.status().code() != StatusCode::kUnsupported) return kernel;
    }
  }
  const LoadFacts facts(load);
  ChainBuilder builder(engine, facts, threads);
  Result<std::shared_ptr<Chain>> chain = FillChain(builder, fill);
  if (!chain.ok()) {
    const Status status = chain.status();
    const bool waits =
        builder.waits() && status.code() == StatusCode::kUnsupported;
    if (!waits) return status;
    return MakePrepared(engine, load, builder, threads, std::move(fill));
  }
  return Kernel{.forward = [made = *std::move(chain)](
                               KernelContext& run) { return made->Run(run); },
                .executor = builder.executor()};
}

}  // namespace assay::onednn
