// SPDX-License-Identifier: Apache-2.0
//
// Chain: the oneDNN primitives of one node, ready to run, and ChainBuilder,
// which makes it: when the model is loaded, or, where extents, axes and the
// like are fed or computed, when a binding has them
// (../reverse/build_kernel.h).
//
//   const auto fill = [=](ChainBuilder& chain) -> Status {
//     ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.input));
//     chain.Eltwise(dnnl::algorithm::eltwise_tanh, 0, 0,
//                   chain.In(op.input, x.Desc()),
//                   chain.Out(op.output, x, x.Desc()));
//     return OkStatus();
//   };
//   return BuildKernel(engine, load, fill);
//
// `fill` is kept for that, so that it captures by value.
//
// A run costs little beside the primitives: memory objects and the argument
// arrays of dnnl_primitive_execute exist from the start (its C++ form copies an
// unordered_map into a vector at each call), and a data pointer is handed over
// only when it changed. The CPU stream of OpenMP runs a primitive before
// execute returns, so that there is nothing to wait for.

#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/onednn/primitive/tensor_view.h"
#include "dnnl.hpp"
#include "framework/backend/eager/kernel.h"
#include "framework/core/dtype.h"
#include "framework/core/shape.h"

namespace assay::onednn {

/// The bytes that a memory stands over.
enum class Role : uint8_t {
  kOwn,        // bytes of a chain
  kInput,      // of the node
  kOutput,     // of the node, which the chain writes
  kResult,     // an output, as backward reads it
  kCotangent,  // of an output
  kGradient,   // of an input, which backward writes
};

/// False for an empty memory, which stands for none.
inline bool IsThere(const dnnl::memory& made) {
  return made.get(true) != nullptr;
}

/// The descriptor; an empty one where there is no memory.
inline dnnl::memory::desc DescIfThere(const dnnl::memory& made) {
  return IsThere(made) ? made.get_desc() : dnnl::memory::desc();
}

/// An argument of a primitive.
struct Argument {
  int name;  // DNNL_ARG_...
  dnnl::memory memory;
};

struct Place {
  Role role = Role::kOwn;
  int position = 0;   // of an input or an output
  dnnl::memory root;  // of the chain's own bytes: the memory that holds them
  int64_t offset_bytes = 0;
};

struct Taped {
  std::any desc;  // the primitive descriptor
  std::vector<Argument> arguments;
  std::vector<float> scales = {};  // of a sum, which cannot be asked for them

  /// An empty memory where there is no such argument.
  dnnl::memory at(int name) const {
    for (const Argument& argument : arguments) {
      if (argument.name == name) return argument.memory;
    }
    return {};
  }
};

/// The primitives of a chain in the order in which they run, with the memories
/// that they read and write and where these lie, so that the chain can be run
/// backward (../reverse).
struct Tape {
  struct Type {
    DType dtype = DType::kUndefined;
    Shape shape;
  };

  std::vector<Taped> entries;
  std::map<dnnl_memory_t, Place> places;
  std::map<int, Type> inputs;   // those read, by position
  std::map<int, Type> outputs;  // those written, by position
  /// Positions of inputs whose numbers primitives were made for.
  std::vector<int> numbers;
};

/// The sources that the arguments of a primitive can number.
inline constexpr int kMostSources =
    DNNL_ARG_MULTIPLE_DST - DNNL_ARG_MULTIPLE_SRC;

inline constexpr auto kInference = dnnl::prop_kind::forward_inference;

/// The known facts of the inputs of a node, at Load or by a binding.
class Facts {
 public:
  virtual ~Facts() = default;
  /// The type; kind kNone when it is not known or the input is omitted.
  virtual const ValueType& type(Input input) const = 0;
  /// The tensor that the model fixes; null where it does not.
  virtual const Tensor* fixed(Input input) const = 0;
  /// The tensor that the model fixes or that the binding has; null at Load
  /// else.
  virtual Result<const Tensor*> value(Input input) const = 0;
};

/// The thread rule is a network's: one run at a time. Scratch memory belongs
/// to the running thread, so that networks in several threads do not meet.
class Chain {
 public:
  Chain(const dnnl::engine& engine, int threads)
      : threads_(threads), stream_(engine) {}

  Status Run(KernelContext& run);

  /// The same for a chain that runs backward.
  Status RunBackward(GradientContext& run);

  /// Says what a run will write.
  void DeclareOutputs(PrepareContext& known) const;

 private:
  friend class ChainBuilder;

  /// A memory object over part of a tensor; `bound` is its present pointer.
  struct Tie {
    dnnl::memory memory;
    size_t offset_bytes = 0;
    const void* bound = nullptr;
  };
  /// A tensor of the node that memory objects stand over.
  struct Bound {
    Role role;
    int position;
    DType dtype;
    Shape shape;
    std::vector<Tie> ties;
  };
  struct Step {
    dnnl::primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;
    size_t scratch_bytes = 0;
    Tie scratch;
  };

  /// Hands over the memory of a run that is not like the one before.
  Status BindTies(KernelContext& run);
  Status Execute();

  // First those that every run reads, in few lines of a cache.
  int threads_;
  uint64_t mark_ = 0;  // of the run whose memory the ties stand over
  dnnl::stream stream_;
  std::vector<Step> steps_;
  std::vector<Bound> sources_;
  std::vector<Bound> sinks_;
  std::vector<dnnl::memory> kept_;  // everything the steps' arguments name
};

/// One node's chain in the making. The functions that call oneDNN throw
/// dnnl::error; FillChain is the boundary that catches it.
class ChainBuilder {
 public:
  using Argument = onednn::Argument;
  /// A check of an element type by an operator, whatever the extents.
  using TypeCheck = Status (*)(const TensorView&);

  /// `facts` must outlive the builder, and so must the tape, which notes what
  /// a chain does that shall run backward.
  ChainBuilder(const dnnl::engine& engine, const Facts& facts, int threads,
               Tape* tape = nullptr);

  const dnnl::engine& engine() const { return engine_; }

  /// True for a chain that shall run backward.
  bool training() const { return tape_ != nullptr; }
  dnnl::prop_kind prop() const {
    return training() ? dnnl::prop_kind::forward_training : kInference;
  }

  /// The tensor that the model fixes for an input, null where there is none.
  const Tensor* fixed(Input input) const { return facts_.fixed(input); }
  DType dtype(Input input) const { return facts_.type(input).dtype; }
  /// As far as it is known.
  std::optional<Shape> shape(Input input) const {
    return facts_.type(input).StaticShape();
  }

  /// Attributes that every primitive of a chain starts from: its scratchpad is
  /// handed over at execution.
  static dnnl::primitive_attr attr();

  /// The view of an input. Unsupported: reason value_kind when it is no
  /// tensor, dtype when oneDNN has no such element type or `check` refuses it,
  /// shape when its shape is not known yet or oneDNN cannot address it.
  Result<TensorView> View(Input input, TypeCheck check = nullptr);

  /// The shape of an input, for an operator that copies elements of any type:
  /// unsupported as above, but for dtype.
  Result<Shape> ShapeOf(Input input);

  /// The same for an output: a shape and an element type of the caller's.
  Result<TensorView> View(DType dtype, const Shape& shape) const;

  /// The elements of an input such as axes or shape, on which the primitives
  /// depend. Unsupported, reason shape, when they are not known yet, unless the
  /// declared type says that there are none.
  Result<std::vector<int64_t>> Integers(Input input, std::string_view what);
  Result<std::vector<float>> Floats(Input input, std::string_view what);

  /// Memory over an input or an output, from a byte on. An output that the
  /// node omits gets memory of its own.
  dnnl::memory In(Input input, const dnnl::memory::desc& desc,
                  int64_t offset_bytes = 0);
  dnnl::memory Out(Output output, const TensorView& view,
                   const dnnl::memory::desc& desc, int64_t offset_bytes = 0);

  /// Memory over a tensor of any role.
  dnnl::memory Over(Role role, int position, DType dtype, const Shape& shape,
                    const dnnl::memory::desc& desc, int64_t offset_bytes = 0);

  /// Memory of the chain's own.
  dnnl::memory Temporary(const dnnl::memory::desc& desc);
  /// Memory for what a next primitive makes of `used`: the same memory, or, so
  /// that backward finds all values, another.
  dnnl::memory Apart(const dnnl::memory& used);
  /// One float32 with that many extents, each 1.
  dnnl::memory Constant(float value, size_t rank = 1);
  /// Memory of the chain's own that nothing writes: all bytes 0; float32 ones.
  dnnl::memory Zeros(const dnnl::memory::desc& desc);
  dnnl::memory Ones(const dnnl::memory::desc& desc);
  /// Memory of the chain's own, from a byte on, under another descriptor.
  dnnl::memory Redescribe(const dnnl::memory& own,
                          const dnnl::memory::desc& desc,
                          int64_t offset_bytes = 0);

  /// An input in the layout that a primitive wants: brought there once now
  /// when the model fixes it, else at each run.
  dnnl::memory Arranged(Input input, const dnnl::memory::desc& given,
                        const dnnl::memory::desc& wanted);

  /// Copies part of an input to memory of the chain's own: once now when the
  /// model fixes the input, else at each run.
  void Fetch(Input input, const dnnl::memory::desc& given, int64_t offset_bytes,
             const dnnl::memory& to);

  /// Memory of the chain's own, filled from an input, in the layout that a
  /// primitive wants: brought there once as Fetch does.
  dnnl::memory Rearranged(Input source, const dnnl::memory& own,
                          const dnnl::memory::desc& wanted);

  /// Appends a primitive, with the arguments whose memory is there.
  template <class Primitive>
  void Add(const typename Primitive::primitive_desc& desc,
           std::vector<Argument> arguments) {
    std::erase_if(arguments, [](const Argument& argument) {
      return !IsThere(argument.memory);
    });
    if (training()) {
      AddWorkspace(desc.query_md(dnnl::query::workspace_md), arguments);
      tape_->entries.push_back({desc, arguments});
    }
    Append(Primitive(desc), desc.scratchpad_desc(), desc.impl_info_str(),
           arguments);
  }
  /// With `add`, what `to` held is added.
  void Copy(const dnnl::memory& from, const dnnl::memory& to, bool add = false);
  void Eltwise(dnnl::algorithm algorithm, float alpha, float beta,
               const dnnl::memory& from, const dnnl::memory& to);
  void Binary(dnnl::algorithm algorithm, const dnnl::memory& a,
              const dnnl::memory& b, const dnnl::memory& to);
  /// `p` and `eps` are of the norm algorithms.
  void Reduce(dnnl::algorithm algorithm, const dnnl::memory& from,
              const dnnl::memory& to, float p = 0, float eps = 0);
  /// The sum of scales[i] * from[i].
  void Sum(const std::vector<dnnl::memory>& from,
           const std::vector<float>& scales, const dnnl::memory& to);

  /// "given float32[1,3,8,8], float32[4,3,3,3]", for messages.
  std::string Found() const;

  /// Why oneDNN declines what it declines: dtype when an input is not
  /// float32, else the reason that was given, by default attribute.
  void DeclineFor(Reason reason) { decline_reason_ = reason; }
  Reason decline_reason() const;

  /// The chain. Unsupported, reason shape, for an output with elements
  /// computed from an input without any.
  Result<std::shared_ptr<Chain>> Finish();

  /// Who computes, for Placement.
  const std::string& executor() const { return executor_; }

  /// True when the node was declined only because a fact is not known yet.
  bool waits() const { return waits_; }
  /// The inputs whose types were asked for.
  const std::vector<Input>& seen() const { return seen_; }
  /// The element types that an operator computes with.
  const std::vector<memory::data_type>& computes() const { return computes_; }

 private:
  void Note(Input input);
  void CopyNow(dnnl::memory from, dnnl::memory to);
  void AddWorkspace(const dnnl::memory::desc& desc,
                    std::vector<Argument>& arguments);
  Result<const Tensor*> Read(Input input, std::string_view what);
  void Append(const dnnl::primitive& primitive,
              const dnnl::memory::desc& scratchpad,
              std::string_view implementation,
              std::span<const Argument> arguments);

  const dnnl::engine& engine_;
  const Facts& facts_;
  Tape* tape_;
  std::shared_ptr<Chain> chain_;
  std::string executor_;
  std::vector<Input> seen_;
  std::vector<memory::data_type> computes_;
  bool waits_ = false;
  Reason decline_reason_ = Reason::kAttribute;
};

using Fill = std::function<Status(ChainBuilder&)>;

/// Runs `fill` over a builder. Unsupported where oneDNN refuses a primitive or
/// cannot do what the node asks; the message names what was found.
Result<std::shared_ptr<Chain>> FillChain(ChainBuilder& chain, const Fill& fill);

}  // namespace assay::onednn
