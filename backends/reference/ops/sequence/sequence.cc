// SPDX-License-Identifier: Apache-2.0
//
// Sequences and optionals. A sequence is never changed: operators make another
// that shares its items.

#include <algorithm>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/ops/tensor/movement.h"

namespace assay::reference {
namespace {

Result<Sequence> SequenceOf(const KernelContext& run, Input input) {
  const Sequence* sequence = run.value(input).sequence();
  if (sequence != nullptr) return *sequence;
  return InvalidArgument("input ", input.position, " is ",
                         run.value(input).Type().ToString(),
                         ", wanted a sequence");
}

/// A position in [-count, count), counted from the front; `otherwise` when the
/// input is omitted.
Result<int64_t> PositionOf(const KernelContext& run, Input input, int64_t count,
                           int64_t otherwise) {
  if (!input.present) return otherwise;
  const Scratch<int64_t> given = IntegersOf(run.input(input));
  if (given.size() != 1) {
    return InvalidArgument("position has ", given.size(),
                           " elements, wanted one");
  }
  if (given[0] < -count || given[0] >= count) {
    return InvalidArgument("position ", given[0], " is outside [", -count, ", ",
                           count, ")");
  }
  return given[0] < 0 ? given[0] + count : given[0];
}

// The type of the items of what SequenceConstruct and SplitToSequence make: of
// the element type, the extents being their own.
ValueType ItemType(DType dtype) {
  ValueType type;
  type.kind = ValueKind::kTensor;
  type.dtype = dtype;
  return type;
}

// SequenceAt-11.
Status SequenceAt(const op::SequenceAt& op, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const Sequence sequence,
                         SequenceOf(run, op.input_sequence));
  ASSAY_ASSIGN_OR_RETURN(
      const int64_t at,
      PositionOf(run, op.position, std::ssize(sequence.items), 0));
  return run.SetOutput(op.tensor, sequence.items[static_cast<size_t>(at)]);
}

// SequenceConstruct-11.
Status SequenceConstruct(const op::SequenceConstruct& op, KernelContext& run) {
  Sequence sequence{ItemType(run.input(op.inputs[0]).dtype()), {}};
  for (int i = 0; i < op.inputs.count; ++i) {
    sequence.items.push_back(run.value(op.inputs[i]));
  }
  return run.SetOutput(op.output_sequence, std::move(sequence));
}

// SequenceErase-11: the last item unless a position is given.
Status SequenceErase(const op::SequenceErase& op, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(Sequence sequence, SequenceOf(run, op.input_sequence));
  const int64_t count = std::ssize(sequence.items);
  if (count == 0) return InvalidArgument("the sequence is empty");
  ASSAY_ASSIGN_OR_RETURN(const int64_t at,
                         PositionOf(run, op.position, count, count - 1));
  sequence.items.erase(sequence.items.begin() + at);
  return run.SetOutput(op.output_sequence, std::move(sequence));
}

// SequenceInsert-11: at the end unless a position in [-n, n] is given.
Status SequenceInsert(const op::SequenceInsert& op, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(Sequence sequence, SequenceOf(run, op.input_sequence));
  const int64_t count = std::ssize(sequence.items);
  int64_t at = count;
  if (op.position.present) {
    const Scratch<int64_t> given = IntegersOf(run.input(op.position));
    if (given.size() != 1 || given[0] < -count || given[0] > count) {
      return InvalidArgument("position is ", Shape(given).ToString(),
                             ", wanted one in [", -count, ", ", count, "]");
    }
    at = given[0] < 0 ? given[0] + count : given[0];
  }
  sequence.items.insert(sequence.items.begin() + at, run.value(op.tensor));
  return run.SetOutput(op.output_sequence, std::move(sequence));
}

// SequenceLength-11.
Status SequenceLength(const op::SequenceLength& op, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const Sequence sequence,
                         SequenceOf(run, op.input_sequence));
  const int64_t count = std::ssize(sequence.items);
  ASSAY_ASSIGN_OR_RETURN(auto length,
                         Tensor::Of<int64_t>({}, std::span(&count, 1)));
  return run.SetOutput(op.length, std::move(length));
}

/// Copies `count` slices of x from slice x_first on to those of y from y_first
/// on, along axes that may differ in extent only.
void MoveSlices(const Tensor& x, int64_t x_first, Tensor& y, int64_t y_first,
                int axis, int64_t count) {
  const Strides from = DenseStrides(x.shape());
  const Strides to = DenseStrides(y.shape());
  const auto k = static_cast<size_t>(axis);
  Shape slices = x.shape();
  slices[axis] = count;
  MoveElements(x, y, Nest<2>(slices, {from, to}), x_first * from[k],
               y_first * to[k]);
}

Result<Tensor> WithNewAxis(const Tensor& tensor, int axis) {
  Dims dims = tensor.shape().dims();
  dims.insert(dims.begin() + axis, 1);
  return tensor.Reshape(Shape(dims));
}

// ConcatFromSequence-11: along an axis, or along a new one.
Status ConcatFromSequence(const op::ConcatFromSequence& op,
                          KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const Sequence sequence,
                         SequenceOf(run, op.input_sequence));
  if (sequence.items.empty()) return InvalidArgument("the sequence is empty");
  std::vector<Tensor> parts;
  int axis = 0;
  for (const assay::Value& item : sequence.items) {
    if (item.tensor() == nullptr) return InvalidArgument("not of tensors");
    const int more = op.new_axis != 0 ? 1 : 0;
    Tensor part = *item.tensor();
    ASSAY_ASSIGN_OR_RETURN(axis,
                           NormalizeAxis(op.axis, part.shape().rank() + more));
    if (more == 1) {
      ASSAY_ASSIGN_OR_RETURN(part, WithNewAxis(part, axis));
    }
    parts.push_back(std::move(part));
  }
  Shape shape = parts[0].shape();
  shape[axis] = 0;
  for (const Tensor& part : parts) {
    Shape fits = part.shape();
    if (fits.rank() == shape.rank()) fits[axis] = shape[axis];
    if (fits != shape || part.dtype() != parts[0].dtype()) {
      return InvalidArgument("items ", parts[0].Signature(), " and ",
                             part.Signature(), " do not concatenate");
    }
    shape[axis] += part.shape()[axis];
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(op.concat_result, parts[0].dtype(), shape));
  int64_t at = 0;
  for (const Tensor& part : parts) {
    MoveSlices(part, 0, *y, at, axis, part.shape()[axis]);
    at += part.shape()[axis];
  }
  return OkStatus();
}

// SplitToSequence-24: parts of `split` slices (the last may have fewer), or of
// as many as `split` lists, or of one slice, its axis gone unless keepdims.
Result<Scratch<int64_t>> PartSizes(const op::SplitToSequence& op,
                                   const Tensor& split, int64_t extent) {
  if (!op.split.present) {
    return Scratch<int64_t>(static_cast<size_t>(extent), 1);
  }
  Scratch<int64_t> sizes = IntegersOf(split);
  if (split.shape().rank() == 0) {
    const int64_t step = sizes[0];
    if (step < 1) return InvalidArgument("split is ", step);
    sizes.clear();
    for (int64_t at = 0; at < extent; at += std::min(step, extent - at)) {
      sizes.push_back(std::min(step, extent - at));
    }
    return sizes;
  }
  int64_t left = extent;
  for (const int64_t size : sizes) {
    if (size < 0 || size > left) {
      return InvalidArgument("split has the size ", size, ", of ", extent,
                             " slices ", left, " are left");
    }
    left -= size;
  }
  if (left == 0) return sizes;
  return InvalidArgument("split leaves ", left, " of ", extent, " slices");
}

Status SplitToSequence(const op::SplitToSequence& op, KernelContext& run) {
  const Tensor& x = run.input(op.input);
  ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(op.axis, x.shape()));
  ASSAY_ASSIGN_OR_RETURN(const auto sizes,
                         PartSizes(op, run.input(op.split), x.shape()[axis]));
  Sequence sequence{ItemType(x.dtype()), {}};
  int64_t at = 0;
  for (const int64_t size : sizes) {
    Shape shape = x.shape();
    shape[axis] = size;
    ASSAY_ASSIGN_OR_RETURN(auto part, Tensor::Allocate(x.dtype(), shape));
    MoveSlices(x, at, part, 0, axis, size);
    if (!op.split.present && op.keepdims == 0) {
      Dims dims = shape.dims();
      dims.erase(dims.begin() + axis);
      ASSAY_ASSIGN_OR_RETURN(part, part.Reshape(Shape(dims)));
    }
    sequence.items.emplace_back(std::move(part));
    at += size;
  }
  return run.SetOutput(op.output_sequence, std::move(sequence));
}

// Optional-15: what is given, or nothing of the attribute's type.
Status FormOptional(const op::Optional& op, KernelContext& run) {
  Optional made;
  if (op.input.present) {
    made.value = std::make_shared<const assay::Value>(run.value(op.input));
    made.element = made.value->Type();
  } else {
    made.element = *op.type;
  }
  return run.SetOutput(op.output, std::move(made));
}

// OptionalGetElement-18: of an optional, or of what is one always.
Status OptionalGetElement(const op::OptionalGetElement& op,
                          KernelContext& run) {
  const assay::Value& value = run.value(op.input);
  const Optional* optional = value.optional();
  if (optional == nullptr) return run.SetOutput(op.output, value);
  if (!optional->has_value()) {
    return InvalidArgument("the optional has no element");
  }
  return run.SetOutput(op.output, *optional->value);
}

// OptionalHasElement-18.
Status OptionalHasElement(const op::OptionalHasElement& op,
                          KernelContext& run) {
  const assay::Value& value = run.value(op.input);
  const Optional* optional = value.optional();
  const bool has =
      optional != nullptr ? optional->has_value() : value.present();
  ASSAY_ASSIGN_OR_RETURN(auto y, Tensor::Of<bool>({}, std::span(&has, 1)));
  return run.SetOutput(op.output, std::move(y));
}

template <class Op>
Kernel Forward(Status (*function)(const Op&, KernelContext&), const Op& op) {
  return {.forward = std::bind_front(function, op)};
}

Status CheckWhole(const LoadContext& load, Output output) {
  if (DispatchUnit(load.dtype(output), []<class>() {})) return OkStatus();
  return Unsupported(Reason::kDType, "the result is ",
                     load.type(output).ToString(),
                     ", wanted elements of whole bytes");
}

Result<Kernel> MakeSequenceEmpty(const op::SequenceEmpty& op, LoadContext&) {
  const auto type = DTypeFromOnnx(static_cast<int>(op.dtype.value_or(1)));
  if (!type.has_value()) {
    return Unsupported(Reason::kDType, "dtype is ", *op.dtype);
  }
  return Kernel{.forward = [op, type = *type](KernelContext& run) {
    return run.SetOutput(op.output, Sequence{ItemType(type), {}});
  }};
}

Result<Kernel> MakeConcatFromSequence(const op::ConcatFromSequence& op,
                                      LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(CheckWhole(load, op.concat_result));
  return Forward(ConcatFromSequence, op);
}

Result<Kernel> MakeSplitToSequence(const op::SplitToSequence& op,
                                   LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(CheckMovable(load, op.input));
  return Forward(SplitToSequence, op);
}

Result<Kernel> MakeOptional(const op::Optional& op, LoadContext&) {
  if (!op.input.present && !op.type.has_value()) {
    return InvalidArgument("neither an input nor a type is given");
  }
  return Forward(FormOptional, op);
}

}  // namespace

Family SequenceFamily() {
  return FamilyOf(SequenceAt, SequenceConstruct, MakeSequenceEmpty,
                  SequenceErase, SequenceInsert, SequenceLength,
                  MakeConcatFromSequence, MakeSplitToSequence, MakeOptional,
                  OptionalGetElement, OptionalHasElement);
}

}  // namespace assay::reference
