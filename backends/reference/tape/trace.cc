// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/tape/trace.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "backends/reference/dense/block_passes.h"
#include "backends/reference/number/charged.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/factors.h"
#include "framework/core/value_walk.h"

namespace assay::reference {

struct TracedKernel {
  std::function<Status(KernelContext&)> forward;
  std::vector<DType> output_types;
  std::vector<bool> factors;  // by input: read as Factors
};

namespace {

thread_local Trace* current_trace = nullptr;

constexpr DType kVar = kDTypeOf<Var>;

bool IsVarTensor(const v1::Value& value) {
  const Tensor* const tensor = value.tensor();
  return tensor != nullptr && tensor->dtype() == kVar;
}

// Names the Vars that a step has computed, by the step and by how many came
// before.
class Naming {
 public:
  Naming(const Tape& tape, uint32_t step, std::vector<uint32_t>* nodes)
      : step_(step), nodes_(nodes), named_(tape.size(), 0) {}

  void Name(Tensor& vars) {
    for (Var& x : vars.mutable_elements<Var>()) {
      if (!IsOfTape(x)) continue;
      uint32_t& count = named_[x.node()];
      if (count == 0) {
        nodes_->push_back(x.node());
        count = static_cast<uint32_t>(nodes_->size());
      }
      x = Var(x.value(), count - 1, step_);
    }
  }

  Result<v1::Value> Named(const v1::Value& value) {
    const auto named = [this](const Tensor& tensor) -> Result<Tensor> {
      if (!tensor.defined() || tensor.dtype() != kVar ||
          std::ranges::none_of(tensor.elements<Var>(), IsOfTape)) {
        return tensor;
      }
      ASSAY_ASSIGN_OR_RETURN(Tensor copy, tensor.Clone());
      Name(copy);
      return copy;
    };
    if (value.sparse() != nullptr) return value;
    return MapTensors(value, named, [](DType dtype) { return dtype; });
  }

 private:
  static bool IsOfTape(const Var& x) {
    return x.source() == 0 && x.node() != 0;
  }

  uint32_t step_;
  std::vector<uint32_t>* nodes_;
  std::vector<uint32_t> named_;  // by node; 0 where it has no name
};

// The context of a kernel of a traced network: Vars in, Vars out. NameOutputs
// passes on the outputs that it sets; where the kernel is part of a step they
// are passed on at once.
class TracedContext final : public KernelContext {
 public:
  TracedContext(KernelContext& run, Trace& trace, const TracedKernel& kernel,
                bool is_step)
      : run_(run), trace_(trace), kernel_(kernel), is_step_(is_step) {
    SharePrepared(run);
  }

  Status Forward() {
    ASSAY_RETURN_IF_ERROR(TakeInputs());
    ASSAY_RETURN_IF_ERROR(kernel_.forward(*this));
    for (const Computed& one : computed_) {
      const DType type =
          kernel_.output_types[static_cast<size_t>(one.output.position)];
      ASSAY_RETURN_IF_ERROR(trace_.Round(type, *one.tensor));
    }
    return OkStatus();
  }

  /// `outputs` are those of the first time, or there are none yet.
  Status NameOutputs(Naming naming, std::vector<v1::Value>* outputs) {
    for (const Computed& one : computed_) {
      naming.Name(*one.tensor);
      set_.emplace_back(one.output, v1::Value(*one.tensor));
    }
    const bool is_first = outputs->empty();
    for (size_t i = 0; i < set_.size(); ++i) {
      auto& [output, value] = set_[i];
      ASSAY_ASSIGN_OR_RETURN(const v1::Value named, naming.Named(value));
      if (is_first) {
        ASSAY_ASSIGN_OR_RETURN(outputs->emplace_back(), trace_.Packed(named));
      }
      ASSAY_RETURN_IF_ERROR(run_.SetOutput(output, (*outputs)[i]));
    }
    return OkStatus();
  }

  Result<Tensor*> Output(assay::Output output, DType dtype,
                         const Shape& shape) override {
    const DType type = IsFloatingPoint(dtype) ? kVar : dtype;
    ASSAY_ASSIGN_OR_RETURN(Tensor* const tensor,
                           run_.Output(output, type, shape));
    if (tensor != nullptr && type == kVar) {
      computed_.push_back({output, tensor});
    }
    return tensor;
  }

  Status SetOutput(assay::Output output, v1::Value value) override {
    if (is_step_) {
      set_.emplace_back(output, std::move(value));
      return OkStatus();
    }
    ASSAY_ASSIGN_OR_RETURN(v1::Value traced, trace_.Traced(value));
    return run_.SetOutput(output, std::move(traced));
  }
  Result<std::vector<v1::Value>> Run(
      std::string_view attribute, std::span<const v1::Value> inputs) override {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Value> traced,
                           TracedAll(inputs));
    ASSAY_ASSIGN_OR_RETURN(std::vector<v1::Value> outputs,
                           run_.Run(attribute, traced));
    for (v1::Value& output : outputs) {
      ASSAY_ASSIGN_OR_RETURN(output, trace_.Unpacked(output));
    }
    return outputs;
  }
  Result<std::vector<v1::Value>> Differentiate(
      std::span<const v1::Value> inputs) override {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Value> traced,
                           TracedAll(inputs));
    return run_.Differentiate(traced);
  }
  void Save(v1::Value value) override { run_.Save(std::move(value)); }
  Result<Tensor*> Workspace(DType dtype, const Shape& shape) override {
    return run_.Workspace(dtype, shape);
  }

 private:
  struct Computed {
    assay::Output output;
    Tensor* tensor;
  };

  Status TakeInputs() {
    values_.reserve(static_cast<size_t>(run_.input_count()));
    for (int i = 0; i < run_.input_count(); ++i) {
      const v1::Value& value =
          values_.emplace_back(run_.value(Input{i, false}));
      if (kernel_.factors[static_cast<size_t>(i)] && StaysAsGiven(value)) {
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(values_.back(), trace_.Traced(value));
    }
    for (const v1::Value& value : values_) inputs_.push_back(&value);
    return OkStatus();
  }

  Result<std::vector<v1::Value>> TracedAll(
      std::span<const v1::Value> values) const {
    std::vector<v1::Value> traced(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(traced[i], trace_.Traced(values[i]));
    }
    return traced;
  }

  bool StaysAsGiven(const v1::Value& value) const {
    const Tensor* const tensor = value.tensor();
    return tensor != nullptr && IsFactorType(tensor->dtype()) &&
           !trace_.IsTarget(*tensor);
  }

  KernelContext& run_;
  Trace& trace_;
  const TracedKernel& kernel_;
  bool is_step_;
  std::vector<v1::Value> values_;
  std::vector<Computed> computed_;
  std::vector<std::pair<assay::Output, v1::Value>> set_;
};

bool HoldsComplex(const ValueType& type) {
  return ClassOf(type.dtype) == DTypeClass::kComplex ||
         (type.element != nullptr && HoldsComplex(*type.element));
}

Status CheckNode(const LoadContext& load) {
  const Node& node = load.node();
  for (int i = 0; std::cmp_less(i, node.inputs.size()); ++i) {
    ASSAY_RETURN_IF_ERROR(
        CheckReal(StrCat("input ", i), load.type(Input{i, true})));
  }
  for (int i = 0; std::cmp_less(i, node.outputs.size()); ++i) {
    ASSAY_RETURN_IF_ERROR(
        CheckReal(StrCat("output ", i), load.type(Output{i, true})));
  }
  return OkStatus();
}

std::vector<DType> OutputTypes(const LoadContext& load) {
  std::vector<DType> types;
  const auto count = static_cast<int>(load.node().outputs.size());
  for (int i = 0; i < count; ++i) types.push_back(load.dtype(Output{i, true}));
  return types;
}

}  // namespace

Trace::Scope::Scope(Trace* trace) : outer_(current_trace), no_tape_(nullptr) {
  current_trace = trace;
}

Trace::Scope::~Scope() { current_trace = outer_; }

Trace* Trace::Current() { return current_trace; }

Result<Tensor> Trace::AddTarget(const Tensor& tensor, const double* offsets) {
  ASSAY_ASSIGN_OR_RETURN(Tensor vars, Tensor::Allocate(kVar, tensor.shape()));
  std::vector<double> numbers(static_cast<size_t>(tensor.num_elements()));
  Decode(tensor, numbers.data());
  const auto source = static_cast<uint32_t>(sources_.size());
  Source target{.size = numbers.size()};
  target.rounded.assign(numbers.size(), false);
  target.moving.assign(numbers.size(), true);
  ++target_count_;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double x = numbers[i];
    const double by = offsets == nullptr ? 0 : offsets[i];
    const double moved = by == 0 ? x : x + by;  // a zero keeps its sign
    vars.mutable_elements<Var>()[i] =
        Var(moved, static_cast<uint32_t>(i), source);
    target.rounded[i] = !IsExact(Primitive::kAdd, x, by, moved);
  }
  for (const Var& x : vars.elements<Var>()) target.values.push_back(x.value());
  sources_.push_back(std::move(target));
  if (!numbers.empty()) {
    given_.insert_or_assign(tensor.data(), Given{tensor, vars, source});
  }
  return vars;
}

bool Trace::IsTarget(const Tensor& tensor) const {
  const auto found = given_.find(tensor.data());
  return found != given_.end() && (found->second.source & kGivenSource) == 0;
}

void Trace::Keep(std::span<const v1::Value> values) {
  const auto keep = [this](const Tensor& tensor) -> Result<Tensor> {
    if (tensor.defined() && tensor.dtype() == kVar) {
      for (const Var& x : tensor.elements<Var>()) {
        if ((x.source() & kGivenSource) == 0) {
          sources_[x.source()].last_reader = UINT32_MAX;
        }
      }
    }
    return tensor;
  };
  for (const v1::Value& value : values) {
    if (value.sparse() != nullptr) continue;
    static_cast<void>(
        MapTensors(value, keep, [](DType dtype) { return dtype; }));
  }
}

Result<std::shared_ptr<const Tape>> Trace::TapeOf(uint32_t step) {
  Source& source = sources_[step];
  if (source.tape != nullptr) return source.tape;
  // The nodes of the step before this one are not asked for any more.
  if (recorded_last_ != 0) LetGo(&sources_[recorded_last_]);
  recorded_last_ = step;
  const Scope running(this);
  again_ = step;
  const Status status = source.record();
  again_ = 0;
  ASSAY_RETURN_IF_ERROR(status);
  return std::exchange(source.tape, nullptr);
}

Status Trace::Run(const std::shared_ptr<const TracedKernel>& kernel,
                  KernelContext& run) {
  if (Tape::Current() != nullptr) {
    return TracedContext(run, *this, *kernel, false).Forward();
  }
  if (again_ != 0) {
    return RecordStep(*kernel, run, again_, &sources_[again_]);
  }
  Source source;
  ASSAY_RETURN_IF_ERROR(RecordStep(
      *kernel, run, static_cast<uint32_t>(sources_.size()), &source));
  if (source.tape->size() == 1) return OkStatus();  // it moved numbers
  source.record = [this, kernel, &run] { return Run(kernel, run); };
  Add(std::move(source));
  return OkStatus();
}

Status Trace::RecordStep(const TracedKernel& kernel, KernelContext& run,
                         uint32_t step, Source* source) {
  const auto tape = std::make_shared<Tape>(kMostNodes, ties_);
  tape->Reserve(source->tape_size);
  TracedContext context(run, *this, kernel, true);
  Status status;
  {
    const Tape::Scope recording(tape.get());
    if (observer_ != nullptr) observer_->Begin(*tape);
    status = context.Forward();
  }
  for (auto& [bytes, given] : given_) {
    if ((given.source & kGivenSource) != 0) given.vars = Tensor();
  }
  ASSAY_RETURN_IF_ERROR(status);
  if (tape->full()) {
    return ResourceExhausted("the tape is full: one node has more than ",
                             tape->size(), " steps");
  }
  source->nodes.clear();
  ASSAY_RETURN_IF_ERROR(context.NameOutputs(Naming(*tape, step, &source->nodes),
                                            &source->outputs));
  source->size = source->nodes.size();
  source->tape_size = tape->size();
  source->values.clear();
  source->values.reserve(source->size);
  for (const uint32_t node : source->nodes) {
    source->values.push_back(tape->values()[node]);
  }
  MarkMoving(*tape, source);
  source->tape = tape;
  saw_ties_ = saw_ties_ || tape->saw_ties();
  if (observer_ != nullptr) observer_->End(step, *tape, source->nodes);
  return OkStatus();
}

// Without targets nobody asks for a derivative.
void Trace::MarkMoving(Tape& tape, Source* source) const {
  if (target_count_ == 0) return;
  tape.MarkMoving([this](uint32_t from, uint32_t index) -> bool {
    return (from & kGivenSource) == 0 && sources_[from].moving[index];
  });
  source->moving.clear();
  for (const uint32_t node : source->nodes) {
    source->moving.push_back(tape.Moves(node));
  }
}

void Trace::LetGo(Source* source) {
  source->tape = nullptr;
  source->nodes = std::vector<uint32_t>();
}

void Trace::Add(Source source) {
  const auto step = static_cast<uint32_t>(sources_.size());
  const Tape& tape = *source.tape;
  for (const uint32_t read : tape.Sources()) {
    if ((read & kGivenSource) == 0) sources_[read].last_reader = step;
  }
  node_count_ += tape.size();
  most_nodes_ = std::max(most_nodes_, tape.size());
  operation_count_ += static_cast<double>(tape.size());
  for (const Block& block : tape.blocks()) {
    const double products = static_cast<double>(block.rows) *
                            static_cast<double>(block.inner) *
                            static_cast<double>(block.columns);
    operation_count_ += products;
    if (IsForPairs(block)) pair_count_ += products;
  }
  kept_bytes_ += tape.bytes();
  steps_.push_back(step);
  sources_.push_back(std::move(source));
  if (kept_bytes_ <= most_kept_bytes_) return;
  const std::span<Source> all(sources_);
  for (Source& one : is_kept_ ? all : all.last(1)) LetGo(&one);
  is_kept_ = false;
}

Result<Tensor> Trace::TracedTensor(const Tensor& tensor) {
  if (const auto known = given_.find(tensor.data());
      known != given_.end() && known->second.vars.defined()) {
    return known->second.vars.Reshape(tensor.shape());
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor vars, Tensor::Allocate(kVar, tensor.shape()));
  if (tensor.num_elements() == 0) return vars;
  const auto next = static_cast<uint32_t>(given_.size()) | kGivenSource;
  Given& given =
      given_.try_emplace(tensor.data(), Given{tensor, {}, next}).first->second;
  std::vector<double> numbers(static_cast<size_t>(tensor.num_elements()));
  Decode(tensor, numbers.data());
  for (size_t i = 0; i < numbers.size(); ++i) {
    vars.mutable_elements<Var>()[i] =
        Var(numbers[i], static_cast<uint32_t>(i), given.source);
  }
  given.vars = vars;
  return vars;
}

Result<v1::Value> Trace::Traced(const v1::Value& value) {
  if (value.sparse() != nullptr) return value;
  ASSAY_ASSIGN_OR_RETURN(const v1::Value unpacked, Unpacked(value));
  const auto traced = [this](const Tensor& tensor) -> Result<Tensor> {
    if (!tensor.defined() || !IsFloatingPoint(tensor.dtype())) return tensor;
    return TracedTensor(tensor);
  };
  return MapTensors(unpacked, traced, [](DType dtype) {
    return IsFloatingPoint(dtype) ? kVar : dtype;
  });
}

Result<v1::Value> Trace::Packed(const v1::Value& value) {
  if (!IsVarTensor(value) || value.tensor()->num_elements() == 0) return value;
  ASSAY_ASSIGN_OR_RETURN(std::optional<Tensor> numbers,
                         NumbersNotComputed(*value.tensor()));
  if (numbers.has_value()) return v1::Value(*std::move(numbers));
  std::optional<PackedVars> packed = PackedVars::Of(*value.tensor());
  if (!packed.has_value()) return value;
  ASSAY_ASSIGN_OR_RETURN(Tensor stand_in, Tensor::Allocate(DType::kUint8, {1}));
  packed_.emplace(stand_in.data(), Packing{stand_in, *std::move(packed)});
  return v1::Value(std::move(stand_in));
}

Result<v1::Value> Trace::Unpacked(const v1::Value& value) const {
  const Tensor* const tensor = value.tensor();
  if (tensor == nullptr || packed_.empty()) return value;
  const auto found = packed_.find(tensor->data());
  if (found == packed_.end()) return value;
  ASSAY_ASSIGN_OR_RETURN(
      Tensor vars, found->second.vars.Unpack(
                       [this](uint32_t source) -> const std::vector<double>& {
                         return sources_[source].values;
                       }));
  return v1::Value(std::move(vars));
}

Status Trace::Round(DType type, Tensor& vars) const {
  if (between_ == Between::kUnrounded || !IsFloatingPoint(type) ||
      type == DType::kFloat64) {
    return OkStatus();
  }
  const std::span<Var> elements = vars.mutable_elements<Var>();
  std::vector<double> numbers;
  for (const Var& x : elements) numbers.push_back(x.value());
  ASSAY_ASSIGN_OR_RETURN(Tensor rounded, Tensor::Allocate(type, vars.shape()));
  Encode(numbers.data(), rounded);
  Decode(rounded, numbers.data());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double by = numbers[i] - elements[i].value();
    // Exact, and the sum too: the one is the nearest of its type to the other.
    if (by != 0 && !std::isnan(by)) elements[i] += Var(by);
  }
  return OkStatus();
}

Status CheckReal(std::string_view name, const ValueType& type) {
  if (!HoldsComplex(type)) return OkStatus();
  return Unsupported(Reason::kDType, name, " is ", type.ToString(),
                     ", wanted no complex numbers on a tape");
}

Result<Kernel> Traced(Kernel kernel, const LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(CheckNode(load));
  std::vector<bool> factors(load.node().inputs.size(), false);
  if (const auto* const reads = kernel.forward.target<ReadsFactors>()) {
    for (const Input input : reads->factors) {
      factors[static_cast<size_t>(input.position)] = true;
    }
  }
  const auto traced = std::make_shared<const TracedKernel>(TracedKernel{
      std::move(kernel.forward), OutputTypes(load), std::move(factors)});
  const auto forward = [traced](KernelContext& run) -> Status {
    Trace* const trace = Trace::Current();
    if (trace == nullptr) {
      return FailedPrecondition("a traced kernel runs without a trace");
    }
    return trace->Run(traced, run);
  };
  return Kernel{.forward = forward, .part = std::move(kernel.part)};
}

}  // namespace assay::reference
