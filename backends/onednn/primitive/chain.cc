// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/primitive/chain.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "backends/onednn/primitive/device.h"
#include "dnnl_debug.h"

namespace assay::onednn {
namespace {

constexpr size_t kPage = 4096;

struct FreePage {
  void operator()(std::byte* page) const {
    ::operator delete (page, std::align_val_t{kPage});
  }
};

/// Scratch memory of the running thread: one primitive runs in it at a time,
/// so that the largest need of any chain is enough for all.
struct ScratchMemory {
  std::byte* data = nullptr;
  size_t size = 0;
};
thread_local constinit ScratchMemory scratch;  // read at a call: of plain types

[[gnu::noinline]] std::byte* GrowScratch(size_t bytes) {
  thread_local std::unique_ptr<std::byte, FreePage> owner;
  owner.reset();
  scratch = {};
  owner.reset(
      static_cast<std::byte*>(::operator new (bytes, std::align_val_t{kPage})));
  scratch = {owner.get(), bytes};
  return owner.get();
}

inline std::byte* Scratch(size_t bytes) {
  const ScratchMemory& mine = scratch;
  if (bytes > mine.size) [[unlikely]]
    return GrowScratch(bytes);
  return mine.data;
}

/// Equality without a call of memcmp, which costs more than a few extents.
inline bool Same(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  const int64_t* of_b = b.begin();
  for (const int64_t extent : a) {
    if (extent != *of_b++) return false;
  }
  return true;
}

Status Untied(const Tensor& tensor, const Shape& wanted) {
  return InvalidArgument("found ", tensor.Signature(), ", wanted shape ",
                         wanted.ToString(), " for which it was loaded");
}

template <class T>
inline void Bind(T& tie, const std::byte* data) {
  const std::byte* wanted = data + tie.offset_bytes;
  if (tie.bound == wanted) return;
  dnnl_memory_set_data_handle(tie.memory.get(), const_cast<std::byte*>(wanted));
  tie.bound = wanted;
}

}  // namespace

inline Status Chain::Execute() {
  for (Step& step : steps_) {
    if (step.scratch_bytes > 0) Bind(step.scratch, Scratch(step.scratch_bytes));
    const dnnl_status_t status = dnnl_primitive_execute(
        step.primitive.get(), stream_.get(),
        static_cast<int>(step.arguments.size()), step.arguments.data());
    if (status != dnnl_success) [[unlikely]] {
      return Internal("oneDNN failed to run ", dnnl_status2str(status));
    }
  }
  return OkStatus();
}

/// A run like the one before costs as little as can be: it reads none of the
/// node's tensors.
Status Chain::Run(KernelContext& run) {
  omp_set_num_threads(threads_);
  if (!run.Repeats(mark_)) ASSAY_RETURN_IF_ERROR(BindTies(run));
  return Execute();
}

Status Chain::BindTies(KernelContext& run) {
  mark_ = 0;  // until all are bound
  for (Bound& source : sources_) {
    const Tensor& tensor = run.input({source.position, true});
    if (!Same(tensor.shape(), source.shape)) [[unlikely]]
      return Untied(tensor, source.shape);
    for (Tie& tie : source.ties) Bind(tie, tensor.data());
  }
  for (Bound& sink : sinks_) {
    const Result<Tensor*> tensor =
        run.Output({sink.position, true}, sink.dtype, sink.shape);
    if (!tensor.ok()) [[unlikely]]
      return tensor.status();
    for (Tie& tie : sink.ties) Bind(tie, (*tensor)->mutable_data());
  }
  mark_ = run.mark();
  return OkStatus();
}

Status Chain::RunBackward(GradientContext& run) {
  omp_set_num_threads(threads_);
  for (Bound& source : sources_) {
    const Output output = {source.position, true};
    const Tensor& tensor =
        source.role == Role::kInput    ? run.input({source.position, true})
        : source.role == Role::kResult ? run.output(output)
                                       : *run.cotangent(output);
    if (!Same(tensor.shape(), source.shape)) [[unlikely]]
      return Untied(tensor, source.shape);
    for (Tie& tie : source.ties) Bind(tie, tensor.data());
  }
  for (Bound& sink : sinks_) {
    ASSAY_ASSIGN_OR_RETURN(Tensor * tensor,
                           run.Gradient({sink.position, true}));
    for (Tie& tie : sink.ties) Bind(tie, tensor->mutable_data());
  }
  return Execute();
}

void Chain::DeclareOutputs(PrepareContext& known) const {
  for (const Bound& sink : sinks_) {
    known.Declare({sink.position, true}, sink.dtype, sink.shape);
  }
}

ChainBuilder::ChainBuilder(const dnnl::engine& engine, const Facts& facts,
                           int threads, Tape* tape)
    : engine_(engine),
      facts_(facts),
      tape_(tape),
      chain_(std::make_shared<Chain>(engine, threads)) {}

dnnl::primitive_attr ChainBuilder::attr() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

Result<TensorView> ChainBuilder::View(Input input, TypeCheck check) {
  const ValueType& type = facts_.type(input);
  Note(input);
  if (type.kind == ValueKind::kTensor) {
    ASSAY_ASSIGN_OR_RETURN(const TensorView scalar, View(type.dtype, Shape()));
    if (check != nullptr) {
      ASSAY_RETURN_IF_ERROR(check(scalar));
      computes_.push_back(scalar.type);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, ShapeOf(input));
  return View(type.dtype, shape);
}

void ChainBuilder::Note(Input input) {
  if (seen_.empty() || seen_.back().position != input.position) {
    seen_.push_back(input);
  }
}

Result<Shape> ChainBuilder::ShapeOf(Input input) {
  const ValueType& type = facts_.type(input);
  Note(input);
  if (type.kind != ValueKind::kNone && type.kind != ValueKind::kTensor) {
    return Unsupported(Reason::kValueKind, "input ", input.position, " is ",
                       type.ToString(), ", oneDNN takes tensors");
  }
  const std::optional<Shape> shape = type.StaticShape();
  if (shape.has_value()) return *shape;
  waits_ = true;
  return Unsupported(
      Reason::kShape, "input ", input.position, " is ",
      type.kind == ValueKind::kNone ? "of unknown type" : type.ToString(),
      ", a oneDNN primitive is made for known extents");
}

Result<TensorView> ChainBuilder::View(DType dtype, const Shape& shape) const {
  const std::optional<memory::data_type> type = DataType(dtype);
  if (!type.has_value()) {
    return Unsupported(Reason::kDType, "oneDNN on a CPU has no ", dtype);
  }
  if (shape.rank() > DNNL_MAX_NDIMS) {
    return Unsupported(Reason::kShape, "rank is ", shape.rank(),
                       ", oneDNN takes at most ", DNNL_MAX_NDIMS);
  }
  ASSAY_RETURN_IF_ERROR(shape.NumElements().status());
  return MakeView(dtype, *type, shape);
}

Result<const Tensor*> ChainBuilder::Read(Input input, std::string_view what) {
  ASSAY_ASSIGN_OR_RETURN(const Tensor* const tensor, facts_.value(input));
  if (tensor != nullptr) return tensor;
  waits_ = true;
  return Unsupported(Reason::kShape, what,
                     " is known only when it runs; a oneDNN primitive is "
                     "made for known extents");
}

template <class T, class From>
std::vector<T> Converted(const Tensor& tensor) {
  std::vector<T> converted;
  for (const From element : tensor.elements<From>()) {
    converted.push_back(static_cast<T>(element));
  }
  return converted;
}

Result<std::vector<int64_t>> ChainBuilder::Integers(Input input,
                                                    std::string_view what) {
  const std::optional<Shape> shape = facts_.type(input).StaticShape();
  if (shape.has_value() && shape == Shape{0}) return std::vector<int64_t>();
  ASSAY_ASSIGN_OR_RETURN(const Tensor* const tensor, Read(input, what));
  const DType type = tensor->dtype();
  if (type == DType::kInt64) return Converted<int64_t, int64_t>(*tensor);
  if (type == DType::kInt32) return Converted<int64_t, int32_t>(*tensor);
  return InvalidArgument(what, " is ", tensor->Signature(),
                         ", wanted int32 or int64");
}

Result<std::vector<float>> ChainBuilder::Floats(Input input,
                                                std::string_view what) {
  if (tape_ != nullptr) tape_->numbers.push_back(input.position);
  ASSAY_ASSIGN_OR_RETURN(const Tensor* const tensor, Read(input, what));
  const DType type = tensor->dtype();
  if (type == DType::kFloat32) return Converted<float, float>(*tensor);
  if (type == DType::kFloat64) return Converted<float, double>(*tensor);
  if (type == DType::kInt32) return Converted<float, int32_t>(*tensor);
  if (type == DType::kInt64) return Converted<float, int64_t>(*tensor);
  return Unsupported(Reason::kDType, what, " is ", tensor->Signature(),
                     ", read as float32");
}

memory ChainBuilder::In(Input input, const memory::desc& desc,
                        int64_t offset_bytes) {
  const ValueType& type = facts_.type(input);
  return Over(Role::kInput, input.position, type.dtype, *type.StaticShape(),
              desc, offset_bytes);
}

memory ChainBuilder::Out(Output output, const TensorView& view,
                         const memory::desc& desc, int64_t offset_bytes) {
  if (!output.present) return Temporary(desc);
  return Over(Role::kOutput, output.position, view.dtype, view.shape, desc,
              offset_bytes);
}

memory ChainBuilder::Over(Role role, int position, DType dtype,
                          const Shape& shape, const memory::desc& desc,
                          int64_t offset_bytes) {
  const bool written = role == Role::kOutput || role == Role::kGradient;
  auto& bounds = written ? chain_->sinks_ : chain_->sources_;
  auto found = std::ranges::find_if(bounds, [&](const Chain::Bound& bound) {
    return bound.role == role && bound.position == position;
  });
  if (found == bounds.end()) {
    bounds.push_back({role, position, dtype, shape, {}});
    found = std::prev(bounds.end());
  }
  memory made(desc, engine_, DNNL_MEMORY_NONE);
  found->ties.push_back({made, static_cast<size_t>(offset_bytes)});
  if (tape_ != nullptr) {
    tape_->places[made.get()] = {role, position, {}, offset_bytes};
    auto& types = role == Role::kInput ? tape_->inputs : tape_->outputs;
    types[position] = {dtype, shape};
  }
  return made;
}

memory ChainBuilder::Temporary(const memory::desc& desc) {
  memory made(desc, engine_);
  if (tape_ != nullptr) tape_->places[made.get()] = {.root = made};
  return made;
}

memory ChainBuilder::Apart(const memory& used) {
  return training() ? Temporary(used.get_desc()) : used;
}

memory ChainBuilder::Constant(float value, size_t rank) {
  const memory::dims ones(rank, 1);
  memory made({ones, memory::data_type::f32, ones}, engine_);
  *static_cast<float*>(made.get_data_handle()) = value;
  return made;
}

memory ChainBuilder::Zeros(const memory::desc& desc) {
  memory made = Temporary(desc);
  if (desc.get_size() > 0) {
    std::memset(made.get_data_handle(), 0, desc.get_size());
  }
  return made;
}

memory ChainBuilder::Ones(const memory::desc& desc) {
  memory made = Temporary(desc);
  std::fill_n(static_cast<float*>(made.get_data_handle()),
              desc.get_size() / sizeof(float), 1.0F);
  return made;
}

memory ChainBuilder::Redescribe(const memory& own, const memory::desc& desc,
                                int64_t offset_bytes) {
  chain_->kept_.push_back(own);
  memory made(desc, engine_,
              static_cast<std::byte*>(own.get_data_handle()) + offset_bytes);
  if (tape_ != nullptr) {
    Place place = tape_->places.at(own.get());
    place.offset_bytes += offset_bytes;
    tape_->places[made.get()] = place;
    chain_->kept_.push_back(made);  // its address is its name on the tape
  }
  return made;
}

void ChainBuilder::Fetch(Input input, const memory::desc& given,
                         int64_t offset_bytes, const memory& to) {
  const Tensor* constant = fixed(input);
  if (constant == nullptr) {
    Copy(In(input, given, offset_bytes), to);
    return;
  }
  CopyNow(
      {given, engine_, const_cast<std::byte*>(constant->data() + offset_bytes)},
      to);
}

void ChainBuilder::CopyNow(memory from, memory to) {
  dnnl::reorder(from, to).execute(chain_->stream_, from, to);
  chain_->stream_.wait();
}

memory ChainBuilder::Rearranged(Input source, const memory& own,
                                const memory::desc& wanted) {
  if (own.get_desc() == wanted) return own;
  const memory to = Temporary(wanted);
  if (fixed(source) != nullptr) {
    CopyNow(own, to);
  } else {
    Copy(own, to);
  }
  return to;
}

memory ChainBuilder::Arranged(Input input, const memory::desc& given,
                              const memory::desc& wanted) {
  if (given == wanted) return In(input, given);
  memory arranged = Temporary(wanted);
  Fetch(input, given, 0, arranged);
  return arranged;
}

void ChainBuilder::Copy(const memory& from, const memory& to, bool add) {
  auto with = attr();
  if (add) {
    dnnl::post_ops after;
    after.append_sum(1);
    with.set_post_ops(after);
  }
  Add<dnnl::reorder>({engine_, from.get_desc(), engine_, to.get_desc(), with},
                     {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

void ChainBuilder::Eltwise(dnnl::algorithm algorithm, float alpha, float beta,
                           const memory& from, const memory& to) {
  Add<dnnl::eltwise_forward>({engine_, prop(), algorithm, from.get_desc(),
                              to.get_desc(), alpha, beta, attr()},
                             {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
}

void ChainBuilder::Binary(dnnl::algorithm algorithm, const memory& a,
                          const memory& b, const memory& to) {
  Add<dnnl::binary>(
      {engine_, algorithm, a.get_desc(), b.get_desc(), to.get_desc(), attr()},
      {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, to}});
}

void ChainBuilder::Reduce(dnnl::algorithm algorithm, const memory& from,
                          const memory& to, float p, float eps) {
  Add<dnnl::reduction>(
      {engine_, algorithm, from.get_desc(), to.get_desc(), p, eps, attr()},
      {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
}

void ChainBuilder::Sum(const std::vector<memory>& from,
                       const std::vector<float>& scales, const memory& to) {
  std::vector<memory::desc> descs;
  std::vector<Argument> arguments = {{DNNL_ARG_DST, to}};
  for (const memory& source : from) {
    const auto number = static_cast<int>(descs.size());
    arguments.push_back({DNNL_ARG_MULTIPLE_SRC + number, source});
    descs.push_back(source.get_desc());
  }
  Add<dnnl::sum>({engine_, to.get_desc(), scales, descs, attr()}, arguments);
  if (tape_ != nullptr) tape_->entries.back().scales = scales;
}

void ChainBuilder::AddWorkspace(const memory::desc& desc,
                                std::vector<Argument>& arguments) {
  if (desc.get_size() == 0) return;
  arguments.push_back({DNNL_ARG_WORKSPACE, Temporary(desc)});
}

void ChainBuilder::Append(const dnnl::primitive& primitive,
                          const memory::desc& scratchpad,
                          std::string_view implementation,
                          std::span<const Argument> arguments) {
  if (!executor_.empty()) executor_ += '+';
  executor_ += implementation;
  Chain::Step step{.primitive = primitive};
  for (const Argument& argument : arguments) {
    step.arguments.push_back({argument.name, argument.memory.get()});
    chain_->kept_.push_back(argument.memory);
  }
  step.scratch_bytes = scratchpad.get_size();
  if (step.scratch_bytes > 0) {
    step.scratch.memory = memory(scratchpad, engine_, DNNL_MEMORY_NONE);
    step.arguments.push_back({DNNL_ARG_SCRATCHPAD, step.scratch.memory.get()});
    Scratch(step.scratch_bytes);
  }
  chain_->steps_.push_back(std::move(step));
}

std::string ChainBuilder::Found() const {
  std::string found = "given";
  for (size_t i = 0; i < seen_.size(); ++i) {
    found += (i == 0 ? " " : ", ") + facts_.type(seen_[i]).ToString();
  }
  return found;
}

Reason ChainBuilder::decline_reason() const {
  const bool plain = std::all_of(
      seen_.begin(), seen_.end(),
      [this](Input input) { return dtype(input) == DType::kFloat32; });
  return plain ? decline_reason_ : Reason::kDType;
}

Result<std::shared_ptr<Chain>> ChainBuilder::Finish() {
  const auto empty = [](const auto& tied) {
    return kernels::Product(tied.shape.dims(), 0, tied.shape.dims().size()) ==
           0;
  };
  const auto& sources = chain_->sources_;
  const auto& sinks = chain_->sinks_;
  if (std::any_of(sources.begin(), sources.end(), empty) &&
      !std::all_of(sinks.begin(), sinks.end(), empty)) {
    return Unsupported(Reason::kShape,
                       "an input has no elements and an output has some; "
                       "oneDNN leaves such an output unwritten");
  }
  return chain_;
}

Result<std::shared_ptr<Chain>> FillChain(ChainBuilder& chain,
                                         const Fill& fill) {
  try {
    const Status status = fill(chain);
    return status.ok() ? chain.Finish() : status.WithContext(chain.Found());
  } catch (const dnnl::error& error) {
    const std::string answer =
        StrCat(": oneDNN ", RuntimeVersion(), " answers ",
               dnnl_status2str(error.status), ", ", error.what());
    if (error.status == dnnl_unimplemented ||
        error.status == dnnl_invalid_arguments) {
      return Unsupported(chain.decline_reason(), chain.Found(), answer);
    }
    if (error.status == dnnl_out_of_memory) {
      return ResourceExhausted(chain.Found(), answer);
    }
    return Internal(chain.Found(), answer);
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("out of memory for ", chain.Found());
  }
}

}  // namespace assay::onednn
