// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/toy/toy_backend.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "framework/backend/function_network.h"

namespace assay::toy {
namespace {

Status CheckFloat(DType dtype) {
  if (dtype == DType::kFloat32 || dtype == DType::kFloat64) return OkStatus();
  return Unsupported(Reason::kDType, "found ", dtype,
                     ", wanted float32 or float64");
}

/// Calls f with a value of the C++ type of `dtype`.
template <class F>
void WithFloat(DType dtype, const F& f) {
  if (dtype == DType::kFloat32) return f(float{});
  f(double{});
}

/// y = f(x), element by element.
template <class F>
Status Map(KernelContext& run, Input from, Output to, const F& f) {
  const Tensor& x = run.input(from);
  ASSAY_ASSIGN_OR_RETURN(Tensor* const y, run.Output(to, x.dtype(), x.shape()));
  WithFloat(x.dtype(), [&]<class T>(T) {
    std::ranges::transform(x.elements<T>(), y->mutable_elements<T>().begin(),
                           f);
  });
  return OkStatus();
}

Status ReluForward(const op::Relu& op, KernelContext& run) {
  return Map(run, op.x, op.y, []<class T>(T v) { return std::max(v, T{}); });
}

Status ReluBackward(const op::Relu& op, GradientContext& run) {
  const Tensor& y = run.output(op.y);
  const Tensor* dy = run.cotangent(op.y);
  if (dy == nullptr) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(Tensor* const dx, run.GradientToWrite(op.x));
  WithFloat(y.dtype(), [&]<class T>(T zero) {
    std::ranges::transform(y.elements<T>(), dy->elements<T>(),
                           dx->mutable_elements<T>().begin(),
                           [zero](T v, T d) { return v > zero ? d : zero; });
  });
  return OkStatus();
}

/// c += op(a) op(b), where a transposed operand is read with its axes swapped.
void MultiplyAdd(const Tensor& a, bool a_swapped, const Tensor& b,
                 bool b_swapped, Tensor& c) {
  const int64_t rows = c.shape()[0];
  const int64_t columns = c.shape()[1];
  const int64_t inner = a.shape()[a_swapped ? 0 : 1];
  const auto at = [](int64_t i, int64_t j, bool swapped, const Tensor& t) {
    return static_cast<size_t>(swapped ? j * t.shape()[1] + i
                                       : i * t.shape()[1] + j);
  };
  WithFloat(c.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        T& sum = c.mutable_elements<T>()[at(i, j, false, c)];
        for (int64_t k = 0; k < inner; ++k) {
          sum += a.elements<T>()[at(i, k, a_swapped, a)] *
                 b.elements<T>()[at(k, j, b_swapped, b)];
        }
      }
    }
  });
}

Status MatMulForward(const op::MatMul& op, KernelContext& run) {
  const Tensor& a = run.input(op.a);
  const Tensor& b = run.input(op.b);
  if (a.shape().rank() != 2 || b.shape().rank() != 2 ||
      a.shape()[1] != b.shape()[0]) {
    return InvalidArgument("cannot multiply ", a.Signature(), " by ",
                           b.Signature());
  }
  ASSAY_ASSIGN_OR_RETURN(
      Tensor* const y,
      run.Output(op.y, a.dtype(), Shape{a.shape()[0], b.shape()[1]}));
  std::ranges::fill(std::span(y->mutable_data(), y->bytes().size()),
                    std::byte{});
  MultiplyAdd(a, false, b, false, *y);
  return OkStatus();
}

Status MatMulBackward(const op::MatMul& op, GradientContext& run) {
  const Tensor* dy = run.cotangent(op.y);
  if (dy == nullptr) return OkStatus();
  if (run.wanted(op.a)) {
    ASSAY_ASSIGN_OR_RETURN(Tensor* const da, run.Gradient(op.a));
    MultiplyAdd(*dy, false, run.input(op.b), true, *da);
  }
  if (run.wanted(op.b)) {
    ASSAY_ASSIGN_OR_RETURN(Tensor* const db, run.Gradient(op.b));
    MultiplyAdd(run.input(op.a), true, *dy, false, *db);
  }
  return OkStatus();
}

Status AddForward(const op::Add& op, KernelContext& run) {
  const Tensor& a = run.input(op.a);
  const Tensor& b = run.input(op.b);
  if (a.shape() != b.shape()) {
    return InvalidArgument("cannot add ", b.Signature(), " to ", a.Signature());
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor* const c,
                         run.Output(op.c, a.dtype(), a.shape()));
  WithFloat(a.dtype(), [&]<class T>(T) {
    std::ranges::transform(a.elements<T>(), b.elements<T>(),
                           c->mutable_elements<T>().begin(), std::plus<>());
  });
  return OkStatus();
}

Status AddBackward(const op::Add& op, GradientContext& run) {
  const Tensor* dc = run.cotangent(op.c);
  if (dc == nullptr) return OkStatus();
  for (const Input input : {op.a, op.b}) {
    if (!run.wanted(input)) continue;
    ASSAY_ASSIGN_OR_RETURN(Tensor* const gradient, run.GradientToWrite(input));
    std::ranges::copy(dc->bytes(), gradient->mutable_data());
  }
  return OkStatus();
}

class Arithmetic : public OperatorVisitor {
  Result<Kernel> Visit(const op::Relu& op, LoadContext& load) override {
    ASSAY_RETURN_IF_ERROR(CheckFloat(load.dtype(op.x)));
    return Kernel{[op](KernelContext& run) { return ReluForward(op, run); },
                  [op](GradientContext& run) { return ReluBackward(op, run); }};
  }
  Result<Kernel> Visit(const op::MatMul& op, LoadContext& load) override {
    ASSAY_RETURN_IF_ERROR(CheckFloat(load.dtype(op.a)));
    // Says whether the weights were known, for the tests of constants.
    const bool fixed = load.constant(op.b) != nullptr;
    return Kernel{
        [op](KernelContext& run) { return MatMulForward(op, run); },
        [op](GradientContext& run) { return MatMulBackward(op, run); },
        fixed ? "fixed weights" : ""};
  }
  Result<Kernel> Visit(const op::Add& op, LoadContext& load) override {
    ASSAY_RETURN_IF_ERROR(CheckFloat(load.dtype(op.a)));
    return Kernel{[op](KernelContext& run) { return AddForward(op, run); },
                  [op](GradientContext& run) { return AddBackward(op, run); }};
  }
};

/// Data and indices have one axis each.
Status GatherForward(const op::Gather& op, KernelContext& run) {
  const auto x = run.input(op.data).elements<float>();
  const auto indices = run.input(op.indices).elements<int64_t>();
  const auto count = static_cast<int64_t>(x.size());
  for (const int64_t i : indices) {
    if (i < -count || i >= count) {
      return InvalidArgument("index ", i, " of ", count, " elements");
    }
  }
  ASSAY_ASSIGN_OR_RETURN(
      Tensor* const y,
      run.Output(op.output, DType::kFloat32, run.input(op.indices).shape()));
  std::ranges::transform(
      indices, y->mutable_elements<float>().begin(),
      [&](int64_t i) { return x[static_cast<size_t>(i < 0 ? i + count : i)]; });
  return OkStatus();
}

Status RunIf(const op::If& op, KernelContext& run) {
  const bool condition = run.input(op.cond).elements<uint8_t>()[0] != 0;
  ASSAY_ASSIGN_OR_RETURN(
      std::vector<Value> outputs,
      run.Run(condition ? "then_branch" : "else_branch", {}));
  for (int i = 0; i < op.outputs.count; ++i) {
    ASSAY_RETURN_IF_ERROR(run.SetOutput(
        op.outputs[i], std::move(outputs[static_cast<size_t>(i)])));
  }
  return OkStatus();
}

/// A Loop of a fixed trip count whose every output is carried.
Status RunLoop(const op::Loop& op, KernelContext& run) {
  const int64_t count = run.input(op.m).elements<int64_t>()[0];
  std::vector<Value> carried;
  for (int i = 0; i < op.v_initial.count; ++i) {
    carried.push_back(run.value(op.v_initial[i]));
  }
  for (int64_t i = 0; i < count; ++i) {
    std::vector<Value> inputs = {
        *Tensor::Of<int64_t>({}, std::span<const int64_t>(&i, 1)),
        *Tensor::Allocate(DType::kBool, {})};
    std::ranges::move(carried, std::back_inserter(inputs));
    ASSAY_ASSIGN_OR_RETURN(carried, run.Run("body", inputs));
    carried.erase(carried.begin());  // the condition
  }
  for (int i = 0; i < op.v_final_and_scan_outputs.count; ++i) {
    ASSAY_RETURN_IF_ERROR(run.SetOutput(op.v_final_and_scan_outputs[i],
                                        carried[static_cast<size_t>(i)]));
  }
  return OkStatus();
}

class Structure : public OperatorVisitor {
  Result<Kernel> Visit(const op::Identity& op, LoadContext&) override {
    return Kernel{[op](KernelContext& run) {
      return run.SetOutput(op.output, run.value(op.input));
    }};
  }
  Result<Kernel> Visit(const op::Gather& op, LoadContext& load) override {
    if (load.dtype(op.data) != DType::kFloat32 ||
        load.dtype(op.indices) != DType::kInt64) {
      return Unsupported(Reason::kDType, "wanted float32 by int64");
    }
    return Kernel{[op](KernelContext& run) { return GatherForward(op, run); }};
  }
  Result<Kernel> Visit(const op::Floor& op, LoadContext&) override {
    return Kernel{[op](KernelContext& run) {
      return Map(run, op.x, op.y, [](auto v) { return std::floor(v); });
    }};
  }
  Result<Kernel> Visit(const op::Constant& op, LoadContext&) override {
    return Kernel{[op](KernelContext& run) {
      if (!op.value_float.has_value()) {
        return run.SetOutput(op.output, op.value.value());
      }
      return run.SetOutput(op.output,
                           *Tensor::Of<float>({}, {&*op.value_float, 1}));
    }};
  }
  Result<Kernel> Visit(const op::If& op, LoadContext&) override {
    return Kernel{[op](KernelContext& run) { return RunIf(op, run); }};
  }
  Result<Kernel> Visit(const op::Loop& op, LoadContext&) override {
    return Kernel{[op](KernelContext& run) { return RunLoop(op, run); }};
  }
};

constexpr Input kX{0, true};
constexpr Output kY{0, true};

Status TwiceForward(KernelContext& run) {
  const Tensor& x = run.input(kX);
  ASSAY_ASSIGN_OR_RETURN(Tensor* const y, run.Output(kY, x.dtype(), x.shape()));
  ASSAY_ASSIGN_OR_RETURN(Tensor* const factor,
                         run.Workspace(x.dtype(), x.shape()));
  WithFloat(x.dtype(), [&]<class T>(T) {
    std::ranges::transform(x.elements<T>(), y->mutable_elements<T>().begin(),
                           [](T v) { return T{2} * v; });
    if (factor != nullptr) {
      std::ranges::fill(factor->mutable_elements<T>(), T{2});
    }
  });
  return OkStatus();
}

Status TwiceBackward(GradientContext& run) {
  const Tensor& factor = *run.saved(0).tensor();
  ASSAY_ASSIGN_OR_RETURN(Tensor* const dx, run.GradientToWrite(kX));
  WithFloat(factor.dtype(), [&]<class T>(T) {
    std::ranges::transform(
        run.cotangent(kY)->elements<T>(), factor.elements<T>(),
        dx->mutable_elements<T>().begin(), std::multiplies<>());
  });
  return OkStatus();
}

/// The memory of Keep in the run with this mark.
struct Kept {
  uint64_t mark = 0;
  std::span<const float> a, b;
  std::span<float> sum;
  float asked = 0;  // how often
};

Status KeepForward(KernelContext& run, Kept& kept) {
  if (!run.Repeats(kept.mark)) {
    kept.a = run.input(kX).elements<float>();
    kept.b = run.input({1, true}).elements<float>();
    ASSAY_ASSIGN_OR_RETURN(
        Tensor* const sum,
        run.Output(kY, DType::kFloat32, run.input(kX).shape()));
    ASSAY_ASSIGN_OR_RETURN(Tensor* const asked,
                           run.Output({1, true}, DType::kFloat32, {}));
    kept.sum = sum->mutable_elements<float>();
    kept.mark = run.mark();
    asked->mutable_elements<float>()[0] = ++kept.asked;
  }
  std::ranges::transform(kept.a, kept.b, kept.sum.begin(), std::plus<>());
  return OkStatus();
}

Status Misbehave(const std::string& how) {
  if (how == "Throw") throw std::runtime_error("the device fell off");
  if (how == "ThrowText") throw "no exception class";
  if (how == "Exhaust") throw std::bad_alloc();
  if (how == "Refuse") return InvalidArgument("refused");
  return OkStatus();  // Silent
}

class Custom : public OperatorVisitor {
  Result<Kernel> VisitCustom(const Node& node, LoadContext& load) override {
    const std::string& name = node.op_type;
    if (name == "Twice") return Kernel{TwiceForward, TwiceBackward};
    if (name == "Keep") {
      return Kernel{[kept = std::make_shared<Kept>()](KernelContext& run) {
        return KeepForward(run, *kept);
      }};
    }
    if (name == "ThrowAtLoad") throw std::runtime_error("no such kernel");
    if (name == "ThrowBack") {
      return Kernel{TwiceForward, [](GradientContext&) -> Status {
                      throw std::runtime_error("the tape tore");
                    }};
    }
    for (const auto* known :
         {"Throw", "ThrowText", "Exhaust", "Refuse", "Silent"}) {
      if (name != known) continue;
      return Kernel{[name](KernelContext&) { return Misbehave(name); }};
    }
    return OperatorVisitor::VisitCustom(node, load);
  }
};

/// A number made of the bytes of a model.
int NumberOf(const Model& model) {
  return std::accumulate(model.bytes().begin(), model.bytes().end(), 0,
                         [](int sum, std::byte b) {
                           return (sum * 31 + std::to_integer<int>(b)) % 1009;
                         });
}

}  // namespace

Toy::Toy() {
  AddFamily(std::make_unique<Arithmetic>());
  AddFamily(std::make_unique<Structure>());
  AddFamily(std::make_unique<Custom>());
}

Result<std::unique_ptr<Network>> Opaque::Load(
    std::shared_ptr<const Model> model, const LoadOptions& options) {
  if (!options.settings.empty()) {
    return InvalidArgument("backend 'opaque' has no setting '",
                           options.settings.begin()->first, "'");
  }
  if (!options.extra_outputs.empty() || !options.gradient_targets.empty()) {
    return Unsupported(Reason::kGradient, "only declared outputs are offered");
  }
  ASSAY_ASSIGN_OR_RETURN(Signature signature, SignatureOf(*model, options));
  for (const ValueInfo& output : signature.outputs) {
    if (output.type.dtype != DType::kFloat32 || !output.type.StaticShape()) {
      return Unsupported(Reason::kShape, "output '", output.name, "' is ",
                         output.type.ToString());
    }
  }
  const auto run =
      [number = NumberOf(*model), outputs = signature.outputs](
          std::span<const Value> inputs) -> Result<std::vector<Value>> {
    auto sum = static_cast<float>(number);
    for (const Value& input : inputs) {
      for (const float x : input.tensor()->elements<float>()) sum += x;
    }
    std::vector<Value> values;
    for (const ValueInfo& output : outputs) {
      ASSAY_ASSIGN_OR_RETURN(
          Tensor filled,
          Tensor::Allocate(DType::kFloat32, *output.type.StaticShape()));
      std::ranges::fill(filled.mutable_elements<float>(), sum);
      values.emplace_back(std::move(filled));
    }
    return values;
  };
  return MakeFunctionNetwork(std::move(signature), run);
}

}  // namespace assay::toy
