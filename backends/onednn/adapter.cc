// SPDX-License-Identifier: Apache-2.0
//
// The operators that the adapter runs by itself, since they only pass a value
// on or repeat one: Constant, ConstantOfShape, Identity, Reshape, Flatten,
// Squeeze, Unsqueeze and Dropout of inference. Placement says `adapter` for
// them. Shapes need not be known at Load here.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "backends/onednn/families.h"

namespace assay::onednn {
namespace {

constexpr char kExecutor[] = "adapter";

template <class Forward>
Kernel Own(Forward forward) {
  return {.forward = std::move(forward), .executor = kExecutor};
}

/// Hands a tensor on under another shape.
Status PassAs(KernelContext& run, Input input, Output output, Shape shape) {
  ASSAY_ASSIGN_OR_RETURN(Tensor view,
                         run.input(input).Reshape(std::move(shape)));
  return run.SetOutput(output, std::move(view));
}

/// A run-time list of int64, such as a shape or axes.
Result<std::vector<int64_t>> ReadIntegers(const Tensor& tensor) {
  if (tensor.dtype() != DType::kInt64) {
    return InvalidArgument("found ", tensor.Signature(), ", wanted int64");
  }
  const auto values = tensor.elements<int64_t>();
  return std::vector<int64_t>(values.begin(), values.end());
}

/// ONNX's Reshape: 0 copies the extent unless allowzero, one -1 takes the rest.
Result<Shape> ReshapedShape(const Tensor& data, std::vector<int64_t> dims,
                            bool allowzero) {
  int64_t known = 1;
  int open = -1;
  for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
    int64_t& extent = dims[static_cast<size_t>(i)];
    if (extent == 0 && !allowzero) {
      if (i >= data.shape().rank()) {
        return InvalidArgument("shape copies axis ", i, " of ",
                               data.Signature());
      }
      extent = data.shape()[i];
    }
    if (extent == -1 && open < 0) {
      open = i;
    } else if (extent < 0 || __builtin_mul_overflow(known, extent, &known)) {
      return InvalidArgument("shape has the extent ", extent);
    }
  }
  if (open >= 0) {
    if (known == 0 || data.num_elements() % known != 0) {
      return InvalidArgument("shape leaves no whole extent for -1 over ",
                             data.Signature());
    }
    dims[static_cast<size_t>(open)] = data.num_elements() / known;
  }
  return Shape(std::move(dims));
}

/// Without the listed axes, or without all of extent 1 when none is listed.
Result<Shape> SqueezedShape(const Shape& shape, bool listed,
                            const std::vector<int64_t>& axes) {
  std::vector<bool> drop(static_cast<size_t>(shape.rank()), false);
  for (int i = 0; i < shape.rank(); ++i) {
    drop[static_cast<size_t>(i)] = !listed && shape[i] == 1;
  }
  for (const int64_t axis : axes) {
    ASSAY_ASSIGN_OR_RETURN(const int at, NormalizeAxis(axis, shape.rank()));
    if (shape[at] != 1) {
      return InvalidArgument("axis ", axis, " of ", shape.ToString(),
                             " is not 1");
    }
    drop[static_cast<size_t>(at)] = true;
  }
  std::vector<int64_t> dims;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!drop[static_cast<size_t>(i)]) dims.push_back(shape[i]);
  }
  return Shape(std::move(dims));
}

/// With an axis of extent 1 at each listed place of the result.
Result<Shape> UnsqueezedShape(const Shape& shape,
                              const std::vector<int64_t>& axes) {
  const int rank = shape.rank() + static_cast<int>(axes.size());
  std::vector<int64_t> dims(static_cast<size_t>(rank), 0);
  for (const int64_t axis : axes) {
    ASSAY_ASSIGN_OR_RETURN(const int at, NormalizeAxis(axis, rank));
    int64_t& extent = dims[static_cast<size_t>(at)];
    if (extent == 1) return InvalidArgument("axis ", axis, " is listed twice");
    extent = 1;
  }
  int next = 0;
  for (int64_t& extent : dims) {
    if (extent == 0) extent = shape[next++];
  }
  return Shape(std::move(dims));
}

class AdapterFamily : public OperatorVisitor {
 public:
  Result<Kernel> Visit(const op::Constant& op, LoadContext& load) override;
  Result<Kernel> Visit(const op::ConstantOfShape& op,
                       LoadContext& load) override;
  Result<Kernel> Visit(const op::Dropout& op, LoadContext& load) override;
  Result<Kernel> Visit(const op::Flatten& op, LoadContext&) override {
    return Own([op](KernelContext& run) -> Status {
      const Shape& shape = run.input(op.input).shape();
      const int64_t rank = shape.rank();
      if (op.axis < -rank || op.axis > rank) {
        return InvalidArgument("axis is ", op.axis, " for ", shape.ToString());
      }
      const auto axis =
          static_cast<size_t>(op.axis < 0 ? op.axis + rank : op.axis);
      const auto& dims = shape.dims();
      return PassAs(run, op.input, op.output,
                    {Product(dims, 0, axis), Product(dims, axis, dims.size())});
    });
  }
  Result<Kernel> Visit(const op::Identity& op, LoadContext&) override {
    return Own([op](KernelContext& run) {
      return run.SetOutput(op.output, run.value(op.input));
    });
  }
  Result<Kernel> Visit(const op::Reshape& op, LoadContext&) override {
    return Own([op](KernelContext& run) -> Status {
      ASSAY_ASSIGN_OR_RETURN(std::vector<int64_t> dims,
                             ReadIntegers(run.input(op.shape)));
      ASSAY_ASSIGN_OR_RETURN(Shape shape,
                             ReshapedShape(run.input(op.data), std::move(dims),
                                           op.allowzero != 0));
      return PassAs(run, op.data, op.reshaped, std::move(shape));
    });
  }
  Result<Kernel> Visit(const op::Squeeze& op, LoadContext&) override {
    return Own([op](KernelContext& run) -> Status {
      std::vector<int64_t> axes;
      if (op.axes.present) {
        ASSAY_ASSIGN_OR_RETURN(axes, ReadIntegers(run.input(op.axes)));
      }
      ASSAY_ASSIGN_OR_RETURN(
          Shape shape,
          SqueezedShape(run.input(op.data).shape(), op.axes.present, axes));
      return PassAs(run, op.data, op.squeezed, std::move(shape));
    });
  }
  Result<Kernel> Visit(const op::Unsqueeze& op, LoadContext&) override {
    return Own([op](KernelContext& run) -> Status {
      ASSAY_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                             ReadIntegers(run.input(op.axes)));
      ASSAY_ASSIGN_OR_RETURN(Shape shape,
                             UnsqueezedShape(run.input(op.data).shape(), axes));
      return PassAs(run, op.data, op.expanded, std::move(shape));
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
  if (op.sparse_value.has_value()) return Value(*op.sparse_value);
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
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::Allocate(dtype, Shape(std::move(dims))));
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

/// What it drops in training is random, and no operator of oneDNN's.
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
  return Own([op](KernelContext& run) -> Status {
    ASSAY_RETURN_IF_ERROR(run.SetOutput(op.output, run.value(op.data)));
    if (!op.mask.present) return OkStatus();
    ASSAY_ASSIGN_OR_RETURN(
        Tensor * mask,
        run.Output(op.mask, DType::kBool, run.input(op.data).shape()));
    std::memset(mask->mutable_data(), 1,
                static_cast<size_t>(mask->byte_size()));
    return OkStatus();
  });
}

}  // namespace

FamilyPointer MakeAdapter() { return std::make_unique<AdapterFamily>(); }

}  // namespace assay::onednn
