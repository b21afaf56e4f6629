// SPDX-License-Identifier: Apache-2.0
//
// The operators that the adapter runs by itself, since they only pass a value
// on or repeat one: Constant, ConstantOfShape, Identity, Reshape, Flatten,
// Squeeze, Unsqueeze and Dropout of inference. Placement says `adapter` for
// them. Shapes need not be known at Load here.
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/onednn/ops/families.h"
#include "framework/kernels/reshape.h"

namespace assay::onednn {
namespace {

constexpr char kExecutor[] = "adapter";

/// The gradient of an input that an output hands on.
BackwardFunction HandBack(Input input, Output output) {
  return [=](GradientContext& run) -> Status {
    const Tensor* const cotangent = run.cotangent(output);
    if (cotangent == nullptr || !run.wanted(input)) return OkStatus();
    ASSAY_ASSIGN_OR_RETURN(Tensor * gradient, run.Gradient(input));
    if (cotangent->byte_size() == 0) return OkStatus();
    std::memcpy(gradient->mutable_data(), cotangent->data(),
                static_cast<size_t>(cotangent->byte_size()));
    return OkStatus();
  };
}

template <class Forward>
Kernel Own(Forward forward) {
  return {.forward = std::move(forward), .executor = kExecutor};
}

/// Hands a tensor on under another shape.
Status PassAs(KernelContext& run, Input input, Output output, Shape shape) {
  ASSAY_ASSIGN_OR_RETURN(auto view, run.input(input).Reshape(std::move(shape)));
  return run.SetOutput(output, std::move(view));
}

/// A list of int64, such as a shape.
Result<std::vector<int64_t>> ReadIntegers(const Tensor& tensor) {
  if (tensor.dtype() != DType::kInt64) {
    return InvalidArgument("found ", tensor.Signature(), ", wanted int64");
  }
  const auto values = tensor.elements<int64_t>();
  return std::vector<int64_t>(values.begin(), values.end());
}

/// An input that is such a list.
Result<std::vector<int64_t>> ReadIntegers(PrepareContext& known, Input input) {
  ASSAY_ASSIGN_OR_RETURN(const Tensor* const tensor, known.value(input));
  return ReadIntegers(tensor == nullptr ? Tensor() : *tensor);
}

using ShapeOf = std::function<Result<Shape>(PrepareContext&, const Shape&)>;

/// Hands `input` on under the shape that each binding finds.
Kernel Reshaping(Input input, Output output, ShapeOf shape_of) {
  Kernel kernel = Own([=](KernelContext& run) {
    return PassAs(run, input, output, run.prepared<Shape>());
  });
  kernel.backward = HandBack(input, output);
  kernel.prepare =
      [=, shape_of = std::move(shape_of)](PrepareContext& known) -> Prepared {
    const ValueType& type = known.type(input);
    const std::optional<Shape> shape = type.StaticShape();
    if (!shape.has_value()) {
      return InvalidArgument("input ", input.position, " is ", type.ToString(),
                             ", wanted a tensor");
    }
    ASSAY_ASSIGN_OR_RETURN(Shape to, shape_of(known, *shape));
    known.Declare(output, type.dtype, to);
    return std::make_shared<Shape>(std::move(to));
  };
  return kernel;
}

class AdapterFamily : public OperatorVisitor {
 public:
  Result<Kernel> Visit(const op::Constant& op, LoadContext& load) override;
  Result<Kernel> Visit(const op::ConstantOfShape& op,
                       LoadContext& load) override;
  Result<Kernel> Visit(const op::Dropout& op, LoadContext& load) override;
  Result<Kernel> Visit(const op::Flatten& op, LoadContext&) override {
    return Reshaping(op.input, op.output,
                     [axis = op.axis](PrepareContext&, const Shape& shape) {
                       return kernels::FlattenedShape(shape, axis);
                     });
  }
  Result<Kernel> Visit(const op::Identity& op, LoadContext&) override {
    Kernel kernel = Own([op](KernelContext& run) {
      return run.SetOutput(op.output, run.value(op.input));
    });
    kernel.backward = HandBack(op.input, op.output);
    return kernel;
  }
  Result<Kernel> Visit(const op::Reshape& op, LoadContext&) override {
    return Reshaping(
        op.data, op.reshaped,
        [op](PrepareContext& known, const Shape& shape) -> Result<Shape> {
          ASSAY_ASSIGN_OR_RETURN(auto dims, ReadIntegers(known, op.shape));
          return kernels::ReshapedShape(shape, std::move(dims),
                                        op.allowzero != 0);
        });
  }
  Result<Kernel> Visit(const op::Squeeze& op, LoadContext&) override {
    return Reshaping(
        op.data, op.squeezed,
        [op](PrepareContext& known, const Shape& shape) -> Result<Shape> {
          if (!op.axes.present) return kernels::SqueezedShape(shape);
          ASSAY_ASSIGN_OR_RETURN(const auto axes, ReadIntegers(known, op.axes));
          return kernels::SqueezedShape(shape, axes);
        });
  }
  Result<Kernel> Visit(const op::Unsqueeze& op, LoadContext&) override {
    return Reshaping(
        op.data, op.expanded,
        [op](PrepareContext& known, const Shape& shape) -> Result<Shape> {
          ASSAY_ASSIGN_OR_RETURN(const auto axes, ReadIntegers(known, op.axes));
          return kernels::UnsqueezedShape(shape, axes);
        });
  }
};

template <class T>
Result<Value> ListValue(const std::vector<T>& values) {
  ASSAY_ASSIGN_OR_RETURN(
      Tensor tensor, Tensor::Of<T>({std::ssize(values)}, std::span(values)));
  return Value(std::move(tensor));
}

template <class T>
Result<Value> ScalarValue(T value) {
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::Of<T>({}, std::span<const T>(&value, 1)));
  return Value(std::move(tensor));
}

/// The one value_ attribute that the node gives.
Result<Value> ConstantValue(const op::Constant& op) {
  if (op.value.has_value()) return Value(*op.value);
  if (op.value_float.has_value()) return ScalarValue(*op.value_float);
  if (op.value_int.has_value()) return ScalarValue(*op.value_int);
  if (op.node->Find("value_floats") != nullptr) {
    return ListValue(op.value_floats);
  }
  if (op.node->Find("value_ints") != nullptr) return ListValue(op.value_ints);
  const bool one = op.value_string.has_value();
  ASSAY_ASSIGN_OR_RETURN(
      Tensor tensor, one ? Tensor::FromStrings({}, {*op.value_string})
                         : Tensor::FromStrings({std::ssize(op.value_strings)},
                                               op.value_strings));
  return Value(std::move(tensor));
}

Result<Kernel> AdapterFamily::Visit(const op::Constant& op, LoadContext&) {
  ASSAY_ASSIGN_OR_RETURN(Value value, ConstantValue(op));
  return Own([output = op.output, value](KernelContext& run) {
    return run.SetOutput(output, value);
  });
}

/// A tensor of copies of one element, a float32 zero by default.
Result<Tensor> Repeated(const op::ConstantOfShape& op, const Tensor& shape) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<int64_t> dims, ReadIntegers(shape));
  const DType dtype = op.value ? op.value->dtype() : DType::kFloat32;
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, Shape(dims)));
  if (!op.value || tensor.byte_size() == 0) return tensor;
  const auto width = static_cast<size_t>(op.value->byte_size());
  std::byte* to = tensor.mutable_data();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    std::memcpy(to + static_cast<size_t>(i) * width, op.value->data(), width);
  }
  return tensor;
}

/// Made once where the shape is fixed.
Result<Kernel> AdapterFamily::Visit(const op::ConstantOfShape& op,
                                    LoadContext& load) {
  if (op.value &&
      (op.value->num_elements() != 1 || BitsOf(op.value->dtype()) % 8 != 0 ||
       op.value->byte_size() == 0)) {
    return Unsupported(Reason::kDType, "the value is ", op.value->Signature(),
                       ", wanted one element of whole bytes");
  }
  const Tensor* shape = load.constant(op.input);
  if (shape == nullptr) {
    return Own([op](KernelContext& run) -> Status {
      ASSAY_ASSIGN_OR_RETURN(Tensor tensor, Repeated(op, run.input(op.input)));
      return run.SetOutput(op.output, std::move(tensor));
    });
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor, Repeated(op, *shape));
  return Own([output = op.output, tensor](KernelContext& run) {
    return run.SetOutput(output, tensor);
  });
}

/// In training it drops at random, and oneDNN has no operator for that.
Result<Kernel> AdapterFamily::Visit(const op::Dropout& op, LoadContext& load) {
  if (op.training_mode.present) {
    const Tensor* training = load.constant(op.training_mode);
    if (training == nullptr || training->byte_size() != 1 ||
        training->data()[0] != std::byte{0}) {
      return Unsupported(Reason::kTraining,
                         "training_mode is not fixed to false, and oneDNN "
                         "draws no random numbers");
    }
  }
  Kernel kernel = Own([op](KernelContext& run) -> Status {
    ASSAY_RETURN_IF_ERROR(run.SetOutput(op.output, run.value(op.data)));
    if (!op.mask.present) return OkStatus();
    ASSAY_ASSIGN_OR_RETURN(
        Tensor * mask,
        run.Output(op.mask, DType::kBool, run.input(op.data).shape()));
    std::memset(mask->mutable_data(), 1,
                static_cast<size_t>(mask->byte_size()));
    return OkStatus();
  });
  kernel.backward = HandBack(op.data, op.output);
  return kernel;
}

}  // namespace

FamilyPointer MakeAdapter() { return std::make_unique<AdapterFamily>(); }

}  // namespace assay::onednn
