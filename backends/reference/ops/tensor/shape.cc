// SPDX-License-Identifier: Apache-2.0
//
// Operators that read or change a shape and leave the elements where they are,
// so that they take every element type and copy nothing.

#include <algorithm>

#include "backends/reference/families.h"
#include "backends/reference/kernel/pointwise.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/ops/tensor/movement.h"

namespace assay::reference {
namespace {

/// Which of `rank` axes are listed; invalid argument for one listed twice.
Result<Scratch<bool>> Listed(std::span<const int64_t> axes, int rank) {
  Scratch<bool> listed(static_cast<size_t>(rank), false);
  for (const int64_t axis : axes) {
    ASSAY_ASSIGN_OR_RETURN(const int k, NormalizeAxis(axis, rank));
    if (listed[static_cast<size_t>(k)]) {
      return InvalidArgument("axis ", axis, " is listed twice in axes ",
                             Shape(axes).ToString());
    }
    listed[static_cast<size_t>(k)] = true;
  }
  return listed;
}

// Reshape-25: 0 keeps the extent of the same axis unless allowzero, one -1
// stands for what is left.
Result<Shape> Reshaped(const op::Reshape& op, const Shape& from,
                       const KernelContext& run) {
  Scratch<int64_t> dims = IntegersOf(run.input(op.shape));
  const bool allow_zero = op.allowzero != 0;
  const Shape wanted(dims);
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, from.NumElements());
  int64_t known = 1;
  int64_t* open = nullptr;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !allow_zero) {
      if (std::cmp_greater_equal(i, from.rank())) {
        return InvalidArgument("shape ", wanted.ToString(), " has a 0 at axis ",
                               i, ", which data ", from.ToString(), " lacks");
      }
      dims[i] = from[static_cast<int>(i)];
    }
    if (dims[i] < -1 || (dims[i] == -1 && open != nullptr)) {
      return InvalidArgument("shape ", wanted.ToString(),
                             ", wanted extents and at most one -1");
    }
    if (dims[i] == -1) {
      open = &dims[i];
    } else if (__builtin_mul_overflow(known, dims[i], &known)) {
      return InvalidArgument("shape ", wanted.ToString(), " is too large");
    }
  }
  if (open != nullptr) {
    if (known == 0 || count % known != 0) {
      return InvalidArgument("cannot reshape ", from.ToString(), " to ",
                             wanted.ToString(), ": the -1 has no value");
    }
    *open = count / known;
  }
  return Shape(dims);
}

// Flatten-25: the axes before `axis` become rows, the others columns.
Result<Shape> Flattened(const op::Flatten& op, const Shape& from,
                        const KernelContext&) {
  const int64_t axis = op.axis;
  if (axis < -from.rank() || axis > from.rank()) {
    return InvalidArgument("axis ", axis, " is outside [", -from.rank(), ", ",
                           from.rank(), "]");
  }
  const int k = static_cast<int>(axis < 0 ? axis + from.rank() : axis);
  return Shape{Extent(from, 0, k), Extent(from, k, from.rank())};
}

// Squeeze-25: leaves out the listed axes, or all of extent 1.
Result<Shape> Squeezed(const op::Squeeze& op, const Shape& from,
                       const KernelContext& run) {
  const bool all = !op.axes.present;
  ASSAY_ASSIGN_OR_RETURN(const auto listed,
                         Listed(IntegersOf(run.input(op.axes)), from.rank()));
  Dims dims;
  for (int k = 0; k < from.rank(); ++k) {
    const bool goes = all ? from[k] == 1 : listed[static_cast<size_t>(k)];
    if (!goes) dims.push_back(from[k]);
    if (goes && from[k] != 1) {
      return InvalidArgument("axis ", k, " of shape ", from.ToString(),
                             " has extent ", from[k], ", wanted 1");
    }
  }
  return Shape(dims);
}

// Unsqueeze-25: the listed axes are those of the result.
Result<Shape> Unsqueezed(const op::Unsqueeze& op, const Shape& from,
                         const KernelContext& run) {
  const Scratch<int64_t> axes = IntegersOf(run.input(op.axes));
  const int rank = from.rank() + static_cast<int>(axes.size());
  ASSAY_ASSIGN_OR_RETURN(const auto listed, Listed(axes, rank));
  Dims dims;
  auto next = from.begin();
  for (const bool is_new : listed) dims.push_back(is_new ? 1 : *next++);
  return Shape(dims);
}

// Shape-25: the extents of axes [start, end), both clamped.
Status ShapeOf(const op::Shape& op, KernelContext& run) {
  const Shape& shape = run.input(op.data).shape();
  const int64_t rank = shape.rank();
  const auto clamped = [rank](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const int64_t start = clamped(op.start);
  const int64_t end = std::max(start, clamped(op.end.value_or(rank)));
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(op.shape, DType::kInt64, {end - start}));
  std::copy(shape.begin() + start, shape.begin() + end,
            y->mutable_elements<int64_t>().begin());
  return OkStatus();
}

/// Passes the elements of the first input on, under the shape that
/// reshape(op, its own shape, run) gives.
template <class Op, class Reshape>
Kernel ViewKernel(const Op& op, const Reshape& reshape) {
  return {.forward = [=](KernelContext& run) -> Status {
            const Tensor& tensor = run.input(kFirst);
            ASSAY_ASSIGN_OR_RETURN(const Shape shape,
                                   reshape(op, tensor.shape(), run));
            ASSAY_ASSIGN_OR_RETURN(Tensor view, tensor.Reshape(shape));
            return run.SetOutput(kResult, std::move(view));
          },
          .backward = [](GradientContext& run) -> Status {
            const Tensor* dy = run.cotangent(kResult);
            if (dy == nullptr || !run.wanted(kFirst)) return OkStatus();
            ASSAY_ASSIGN_OR_RETURN(Tensor * dx, run.GradientToWrite(kFirst));
            std::ranges::copy(dy->bytes(), dx->mutable_data());
            return OkStatus();
          }};
}
template <class Op>
auto Viewed(Result<Shape> (*reshape)(const Op&, const Shape&,
                                     const KernelContext&)) {
  return On<Op>([=](const Op& op, LoadContext&) -> Result<Kernel> {
    return ViewKernel(op, reshape);
  });
}

// Identity-25: values of any kind.
Result<Kernel> MakeIdentity(const op::Identity& op, LoadContext& load) {
  if (load.type(op.input).kind == ValueKind::kTensor) {
    return ViewKernel(
        op, [](const op::Identity&, const Shape& from, const KernelContext&) {
          return Result<Shape>(from);
        });
  }
  return Kernel{.forward = [op](KernelContext& run) {
    return run.SetOutput(op.output, run.value(op.input));
  }};
}

Status SizeOf(const op::Size& op, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(op.size, DType::kInt64, {}));
  y->mutable_elements<int64_t>()[0] = run.input(op.data).num_elements();
  return OkStatus();
}

}  // namespace

Family ShapeFamily() {
  return FamilyOf(Viewed(Reshaped), Viewed(Flattened), Viewed(Squeezed),
                  Viewed(Unsqueezed), MakeIdentity, ShapeOf, SizeOf);
}

}  // namespace assay::reference
