// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/late.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/onednn/device.h"
#include "framework/backend/network_interfaces.h"

namespace assay::onednn {
namespace {

Input At(size_t position) { return {static_cast<int>(position), true}; }

class LoadFacts final : public Facts {
 public:
  explicit LoadFacts(const LoadContext& load) : load_(load) {}
  const ValueType& type(Input input) const override {
    return load_.type(input);
  }
  const Tensor* fixed(Input input) const override {
    return load_.constant(input);
  }
  const Tensor* value(Input input) const override { return fixed(input); }

 private:
  const LoadContext& load_;
};

/// The tensors of a run, and which of them the model fixes.
class RunFacts final : public Facts {
 public:
  RunFacts(const KernelContext& run, const std::vector<const Tensor*>& fixed)
      : run_(run), fixed_(fixed) {
    for (size_t i = 0; i < fixed.size(); ++i) {
      const Value& value = run.value(At(i));
      types_.push_back(value.present() ? value.Type() : ValueType());
    }
  }
  const ValueType& type(Input input) const override {
    static const ValueType kUnknown;
    const auto at = static_cast<size_t>(input.position);
    return at < types_.size() ? types_[at] : kUnknown;
  }
  const Tensor* fixed(Input input) const override {
    const auto at = static_cast<size_t>(input.position);
    return at < fixed_.size() ? fixed_[at] : nullptr;
  }
  const Tensor* value(Input input) const override {
    return run_.value(input).tensor();
  }

 private:
  const KernelContext& run_;
  const std::vector<const Tensor*>& fixed_;
  std::vector<ValueType> types_;
};

/// The chain for what the last run was given, made anew when that changes.
class LateChain {
 public:
  LateChain(const dnnl::engine& engine, int threads, Fill fill,
            std::vector<const Tensor*> fixed)
      : engine_(engine),
        threads_(threads),
        fill_(std::move(fill)),
        fixed_(std::move(fixed)) {}

  Status Run(KernelContext& run) {
    if (chain_ == nullptr || !Fits(run)) ASSAY_RETURN_IF_ERROR(Make(run));
    return chain_->Run(run);
  }

 private:
  bool Fits(const KernelContext& run) const {
    const auto same_shape = [&run](const auto& known) {
      return run.input(known.first).shape() == known.second;
    };
    const auto same_bytes = [&run](const auto& known) {
      return std::ranges::equal(run.input(known.first).bytes(), known.second);
    };
    return std::ranges::all_of(shapes_, same_shape) &&
           std::ranges::all_of(values_, same_bytes);
  }

  Status Make(const KernelContext& run) {
    chain_ = nullptr;
    shapes_.clear();
    values_.clear();
    omp_set_num_threads(threads_);
    const RunFacts facts(run, fixed_);
    ChainBuilder builder(engine_, facts, threads_);
    ASSAY_ASSIGN_OR_RETURN(chain_, FillChain(builder, fill_));
    for (const Input input : builder.seen()) {
      shapes_.emplace_back(input, run.input(input).shape());
    }
    for (const Input input : builder.read()) {
      const auto bytes = run.input(input).bytes();
      shapes_.emplace_back(input, run.input(input).shape());
      values_.emplace_back(input,
                           std::vector<std::byte>(bytes.begin(), bytes.end()));
    }
    return OkStatus();
  }

  dnnl::engine engine_;
  int threads_;
  Fill fill_;
  std::vector<const Tensor*> fixed_;  // by position
  std::shared_ptr<Chain> chain_;
  std::vector<std::pair<Input, Shape>> shapes_;
  std::vector<std::pair<Input, std::vector<std::byte>>> values_;
};

/// Whether this machine computes with these types, asked by an activation.
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

Result<Kernel> MakeLate(const dnnl::engine& engine, const LoadContext& load,
                        const ChainBuilder& tried, int threads, Fill fill) {
  ASSAY_RETURN_IF_ERROR(Probe(engine, tried.computes()));
  ASSAY_RETURN_IF_ERROR(CheckElements(load, tried.seen()));
  std::vector<const Tensor*> fixed;
  for (size_t i = 0; i < load.node().inputs.size(); ++i) {
    fixed.push_back(load.constant(At(i)));
  }
  auto chain = std::make_shared<LateChain>(engine, threads, std::move(fill),
                                           std::move(fixed));
  return Kernel{
      .forward = [chain](KernelContext& run) { return chain->Run(run); },
      .executor = kLate};
}

class LateNetwork final : public Network {
 public:
  explicit LateNetwork(std::unique_ptr<Network> network)
      : network_(std::move(network)) {}

  std::span<const ValueInfo> inputs() const override {
    return network_->inputs();
  }
  std::span<const ValueInfo> outputs() const override {
    return network_->outputs();
  }
  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Binding> binding,
                           network_->Bind(inputs, outputs));
    const Status status = network_->Forward(*binding);
    if (status.code() == StatusCode::kUnsupported) return status;
    return binding;
  }
  Status Forward(Binding& binding) override {
    return network_->Forward(binding);
  }
  Differentiable* differentiable() override {
    return network_->differentiable();
  }
  Parameters* parameters() override { return network_->parameters(); }
  Placement* placement() override { return network_->placement(); }

 private:
  std::unique_ptr<Network> network_;
};

}  // namespace

Result<Kernel> BuildChain(const dnnl::engine& engine, LoadContext& load,
                          Fill fill) {
  ASSAY_ASSIGN_OR_RETURN(const int threads,
                         ReadThreads(load.options().settings));
  omp_set_num_threads(threads);
  const LoadFacts facts(load);
  ChainBuilder builder(engine, facts, threads);
  Result<std::shared_ptr<Chain>> chain = FillChain(builder, fill);
  if (!chain.ok()) {
    const Status status = chain.status();
    const bool waits =
        builder.waits() && status.code() == StatusCode::kUnsupported;
    if (!waits) return status;
    return MakeLate(engine, load, builder, threads, std::move(fill));
  }
  return Kernel{.forward = [made = *std::move(chain)](
                               KernelContext& run) { return made->Run(run); },
                .executor = builder.executor()};
}

std::unique_ptr<Network> PreparedAtBind(std::unique_ptr<Network> network) {
  const auto placed = network->placement()->Placed();
  const auto late = [](const PlacedNode& node) {
    return node.executor == kLate;
  };
  if (std::ranges::none_of(placed, late)) return network;
  return std::make_unique<LateNetwork>(std::move(network));
}

}  // namespace assay::onednn
