// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/reverse/build_kernel.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "backends/onednn/primitive/device.h"
#include "backends/onednn/reverse/differentiated.h"
#include "framework/backend/backend.h"

namespace assay::onednn {
namespace {

constexpr char kMadeForShapes[] = "onednn, made for each set of shapes";

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
