// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "dnnl.hpp"
#include "perf/overhead/natives.h"

namespace assay::overhead {
namespace {

using dnnl::algorithm;
using dnnl::memory;

constexpr auto kInference = dnnl::prop_kind::forward_inference;

/// Row-major float32.
memory::desc DescOf(const Shape& shape) {
  memory::dims strides(shape.begin(), shape.end());
  int64_t packed = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    packed *= std::exchange(strides[i], packed);
  }
  return {memory::dims(shape.begin(), shape.end()), memory::data_type::f32,
          strides};
}

/// Images as batch, channels and all elements of a channel, as the backend has
/// them for a normalization.
memory::desc FlatImage(const Shape& shape) {
  return DescOf({shape[0], shape[1], shape[2] * shape[3]});
}

/// A primitive with its arguments, ready.
class Ready {
 public:
  Ready(const dnnl::engine& engine, dnnl::primitive primitive,
        const memory::desc& scratch,
        std::vector<std::pair<int, memory>> arguments, std::vector<Tensor> over)
      : stream_(engine),
        primitive_(std::move(primitive)),
        arguments_(std::move(arguments)),
        over_(std::move(over)) {
    if (scratch.get_size() > 0) {
      scratch_.reset(new (kPage) std::byte[scratch.get_size()]);
      arguments_.emplace_back(DNNL_ARG_SCRATCHPAD,
                              memory(scratch, engine, scratch_.get()));
    }
    for (const auto& [name, tensor] : arguments_) {
      given_.push_back({name, tensor.get()});
    }
  }

  Status Run() {
    const dnnl_status_t status =
        dnnl_primitive_execute(primitive_.get(), stream_.get(),
                               static_cast<int>(given_.size()), given_.data());
    if (status == dnnl_success) [[likely]]
      return OkStatus();
    return Internal("oneDNN failed with status ", static_cast<int>(status));
  }

 private:
  /// Scratch memory starts a page, as the backend's does: the two are beside
  /// the same lines of a cache.
  static constexpr std::align_val_t kPage{4096};
  struct FreePage {
    void operator()(std::byte* page) const { ::operator delete[](page, kPage); }
  };

  std::unique_ptr<std::byte[], FreePage> scratch_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::vector<std::pair<int, memory>> arguments_;
  std::vector<dnnl_exec_arg_t> given_;
  std::vector<Tensor> over_;  // the memory of the arguments
};

/// Makes the primitive of a case.
class Maker {
 public:
  explicit Maker(const Bound& bound) : bound_(bound) {}

  Calls Make(const Case& of) {
    const Shape& shape = of.output;
    if (of.op == "Relu") return Relu(DescOf(shape));
    if (of.op == "Add") return Add(DescOf(shape));
    if (of.op == "MatMul") return MatMul(of);
    if (of.op == "Conv") return Conv(of);
    if (of.op == "Softmax") return Softmax(DescOf(shape));
    if (of.op == "BatchNormalization") return Normalize(FlatImage(shape));
    return nullptr;
  }

 private:
  memory In(size_t place, const memory::desc& desc) {
    Tensor tensor = bound_.inputs[place];
    return {desc, engine_, tensor.mutable_data()};
  }
  memory Out(const memory::desc& desc) {
    Tensor tensor = bound_.output;
    return {desc, engine_, tensor.mutable_data()};
  }
  static dnnl::primitive_attr Attr() {
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attr;
  }

  template <class Primitive>
  Calls With(const typename Primitive::primitive_desc& desc,
             std::vector<std::pair<int, memory>> arguments) {
    std::vector<Tensor> over = bound_.inputs;
    over.push_back(bound_.output);
    const auto ready = std::make_shared<Ready>(
        engine_, Primitive(desc), desc.scratchpad_desc(), std::move(arguments),
        std::move(over));
    return Repeated([ready] { return ready->Run(); });
  }

  Calls Relu(const memory::desc& desc) {
    return With<dnnl::eltwise_forward>(
        {engine_, kInference, algorithm::eltwise_relu, desc, desc, 0.0F, 0.0F,
         Attr()},
        {{DNNL_ARG_SRC, In(0, desc)}, {DNNL_ARG_DST, Out(desc)}});
  }

  Calls Add(const memory::desc& desc) {
    return With<dnnl::binary>(
        {engine_, algorithm::binary_add, desc, desc, desc, Attr()},
        {{DNNL_ARG_SRC_0, In(0, desc)},
         {DNNL_ARG_SRC_1, In(1, desc)},
         {DNNL_ARG_DST, Out(desc)}});
  }

  Calls MatMul(const Case& of) {
    const memory::desc a = DescOf(of.inputs[0]);
    const memory::desc b = DescOf(of.inputs[1]);
    const memory::desc y = DescOf(of.output);
    return With<dnnl::matmul>({engine_, a, b, y, Attr()},
                              {{DNNL_ARG_SRC, In(0, a)},
                               {DNNL_ARG_WEIGHTS, In(1, b)},
                               {DNNL_ARG_DST, Out(y)}});
  }

  Calls Conv(const Case& of) {
    const memory::desc x = DescOf(of.inputs[0]);
    const memory::desc w = DescOf(of.inputs[1]);
    const memory::desc y = DescOf(of.output);
    const memory::dims ones = {1, 1};
    const memory::dims zeros = {0, 0};
    return With<dnnl::convolution_forward>(
        {engine_, kInference, algorithm::convolution_direct, x, w, y, ones,
         zeros, ones, ones, Attr()},
        {{DNNL_ARG_SRC, In(0, x)},
         {DNNL_ARG_WEIGHTS, In(1, w)},
         {DNNL_ARG_DST, Out(y)}});
  }

  Calls Softmax(const memory::desc& desc) {
    return With<dnnl::softmax_forward>(
        {engine_, kInference, algorithm::softmax_accurate, desc, desc, 1,
         Attr()},
        {{DNNL_ARG_SRC, In(0, desc)}, {DNNL_ARG_DST, Out(desc)}});
  }

  Calls Normalize(const memory::desc& desc) {
    using Flags = dnnl::normalization_flags;
    constexpr float kEpsilon = 1e-5F;  // ONNX's default
    const memory::desc each = DescOf({desc.get_dims()[1]});
    return With<dnnl::batch_normalization_forward>(
        {engine_, kInference, desc, desc, kEpsilon,
         Flags::use_scale | Flags::use_shift | Flags::use_global_stats, Attr()},
        {{DNNL_ARG_SRC, In(0, desc)},
         {DNNL_ARG_SCALE, In(1, each)},
         {DNNL_ARG_SHIFT, In(2, each)},
         {DNNL_ARG_MEAN, In(3, each)},
         {DNNL_ARG_VARIANCE, In(4, each)},
         {DNNL_ARG_DST, Out(desc)}});
  }

  const Bound& bound_;
  const dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
};

}  // namespace

Result<Calls> OneDnnCalls(const Case& of, const Bound& bound) {
  try {
    Calls calls = Maker(bound).Make(of);
    if (calls != nullptr) return calls;
  } catch (const dnnl::error& error) {
    return Internal("oneDNN refused ", of.op, ": ", error.what());
  }
  return Unsupported(Reason::kOperator, "no native call of ", of.op);
}

}  // namespace assay::overhead
