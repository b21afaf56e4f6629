// SPDX-License-Identifier: Apache-2.0
//
// Operators that read or write elements at positions given by another tensor.
// Each turns its indices into offsets of blocks; then blocks are moved.

#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/kernel/moving.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {
namespace {

using Offsets = Scratch<int64_t>;

/// `index`, counted from the end when negative, of an axis of `extent`.
Result<int64_t> Position(int64_t index, int64_t extent) {
  if (index < -extent || index >= extent) {
    return InvalidArgument("index ", index, " is outside [", -extent, ", ",
                           extent, ")");
  }
  return index < 0 ? index + extent : index;
}

/// Copies blocks of `block` elements from the given offsets to y, one after
/// the other.
void MoveBlocksFrom(const Tensor& x, const Offsets& offsets, int64_t block,
                    Tensor& y) {
  const Nest<2> nest({block}, {Strides{1}, Strides{1}});
  int64_t at = 0;
  for (const int64_t offset : offsets) {
    MoveElements(x, y, nest, offset, at);
    at += block;
  }
}

// Gather-13: axis `axis` of the data is replaced by the axes of the indices.
Status Gather(const op::Gather& op, KernelContext& run) {
  const Tensor& data = run.input(op.data);
  const Tensor& indices = run.input(op.indices);
  const int rank = data.shape().rank();
  ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(op.axis, rank));
  const int64_t outer = Extent(data.shape(), 0, axis);
  const int64_t extent = data.shape()[axis];
  const int64_t inner = Extent(data.shape(), axis + 1, rank);
  Dims dims = data.shape().dims();
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, indices.shape().begin(),
              indices.shape().end());
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(op.output, data.dtype(), Shape(dims)));
  const Loaded<int64_t> at(indices);
  Offsets offsets;
  for (int64_t block = 0; block < outer; ++block) {
    for (int64_t i = 0; i < at.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(const int64_t k, Position(at[i], extent));
      offsets.push_back((block * extent + k) * inner);
    }
  }
  MoveBlocksFrom(data, offsets, inner, *y);
  return OkStatus();
}

// The elements of `data` that GatherElements and ScatterElements name: the
// position of each index, with its coordinate along `axis` replaced.
Result<Offsets> ElementOffsets(const Shape& data, const Tensor& indices,
                               int64_t axis) {
  ASSAY_ASSIGN_OR_RETURN(const int k, NormalizeAxis(axis, data));
  const Shape& shape = indices.shape();
  bool fits = shape.rank() == data.rank();
  for (int i = 0; fits && i < data.rank(); ++i) {
    fits = i == k || shape[i] <= data[i];
  }
  if (!fits) {
    return InvalidArgument("indices of shape ", shape.ToString(),
                           " do not fit data of shape ", data.ToString());
  }
  const Loaded<int64_t> index(indices);
  const Strides strides = DenseStrides(data);
  Strides across = strides;
  across[static_cast<size_t>(k)] = 0;
  Offsets offsets(static_cast<size_t>(index.size()));
  Status status;
  const Nest<2> nest(shape, {across, DenseStrides(shape)});
  nest.ForEachRow([&](const Nest<2>::Row& row) {
    for (int64_t i = 0; i < row.count; ++i) {
      const int64_t from = row.at[1] + i * row.step[1];
      const Result<int64_t> at = Position(index[from], data[k]);
      if (!at.ok()) {
        status = at.status();
        return;
      }
      offsets[static_cast<size_t>(from)] =
          row.at[0] + i * row.step[0] + *at * strides[static_cast<size_t>(k)];
    }
  });
  if (!status.ok()) return status;
  return offsets;
}

/// Blocks that the last axis of indices names, after `batch` leading axes.
struct Blocks {
  Offsets offsets;
  int64_t size = 1;
  Shape leading;  // the indices' shape without its last axis
  Shape block;
};

// The blocks of GatherND-13 and ScatterND-18.
Result<Blocks> NamedBlocks(const Shape& data, const Tensor& indices,
                           int64_t batch_dims) {
  const Shape& shape = indices.shape();
  const int64_t width = shape.rank() == 0 ? 0 : shape[shape.rank() - 1];
  if (shape.rank() == 0 || batch_dims < 0 || batch_dims >= shape.rank() ||
      width < 1 || batch_dims + width > data.rank()) {
    return InvalidArgument("indices of shape ", shape.ToString(), " with ",
                           batch_dims, " batch axes do not fit data of shape ",
                           data.ToString());
  }
  const auto batch = static_cast<int>(batch_dims);
  for (int axis = 0; axis < batch; ++axis) {
    if (shape[axis] != data[axis]) {
      return InvalidArgument("batch axis ", axis, " has extent ", shape[axis],
                             " in indices and ", data[axis], " in data");
    }
  }
  const int first = batch + static_cast<int>(width);
  Blocks blocks;
  blocks.leading = SubShape(shape, 0, shape.rank() - 1);
  blocks.block = SubShape(data, first, data.rank());
  blocks.size = Extent(data, first, data.rank());
  const Loaded<int64_t> index(indices);
  const Strides strides = DenseStrides(data);
  const int64_t per_batch = Extent(shape, batch, shape.rank() - 1);
  const int64_t batch_size = Extent(data, batch, data.rank());
  for (int64_t i = 0; i * width < index.size(); ++i) {
    int64_t offset = i / per_batch * batch_size;
    for (int64_t k = 0; k < width; ++k) {
      const int axis = batch + static_cast<int>(k);
      ASSAY_ASSIGN_OR_RETURN(const int64_t at,
                             Position(index[i * width + k], data[axis]));
      offset += at * strides[static_cast<size_t>(axis)];
    }
    blocks.offsets.push_back(offset);
  }
  return blocks;
}

Status GatherElements(const op::GatherElements& op, KernelContext& run) {
  const Tensor& data = run.input(op.data);
  const Tensor& indices = run.input(op.indices);
  ASSAY_ASSIGN_OR_RETURN(const Offsets offsets,
                         ElementOffsets(data.shape(), indices, op.axis));
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(op.output, data.dtype(), indices.shape()));
  MoveBlocksFrom(data, offsets, 1, *y);
  return OkStatus();
}

Status GatherND(const op::GatherND& op, KernelContext& run) {
  const Tensor& data = run.input(op.data);
  ASSAY_ASSIGN_OR_RETURN(
      const Blocks blocks,
      NamedBlocks(data.shape(), run.input(op.indices), op.batch_dims));
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(op.output, data.dtype(),
                                    JoinedShape(blocks.leading, blocks.block)));
  MoveBlocksFrom(data, blocks.offsets, blocks.size, *y);
  return OkStatus();
}

/// Where updates go, and what becomes of the element that is there.
struct Scatter {
  Offsets offsets;
  int64_t block = 1;
};

Status ScatterPlainly(const Tensor& data, const Tensor& updates,
                      const Scatter& scatter, Output output,
                      KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(output, data.dtype(), data.shape()));
  const Nest<2> all({data.num_elements()}, {Strides{1}, Strides{1}});
  MoveElements(data, *y, all);
  const Nest<2> nest({scatter.block}, {Strides{1}, Strides{1}});
  int64_t at = 0;
  for (const int64_t offset : scatter.offsets) {
    MoveElements(updates, *y, nest, at, offset);
    at += scatter.block;
  }
  return OkStatus();
}

template <class T>
Status ScatterReducing(const Tensor& data, const Tensor& updates,
                       const Scatter& scatter, std::string_view reduction,
                       Output output, KernelContext& run) {
  const Loaded<T> x(data);
  const Loaded<T> u(updates);
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<T>(run, output, data.dtype(), data.shape()));
  std::copy_n(x.data(), x.size(), y.data());
  int64_t at = 0;
  for (const int64_t offset : scatter.offsets) {
    for (int64_t i = 0; i < scatter.block; ++i, ++at) {
      T& target = y[offset + i];
      if (reduction == "add") target += u[at];
      if (reduction == "mul") target *= u[at];
      if constexpr (!std::same_as<T, Complex>) {  // they have no order
        if (reduction == "max") target = Max(target, u[at]);
        if (reduction == "min") target = Min(target, u[at]);
      }
    }
  }
  return OkStatus();
}

/// The kernel of a scatter operator; `plan` finds the targets in a run.
template <class Op>
Result<Kernel> ScatterKernel(
    LoadContext& load, const Op& op,
    const std::function<Result<Scatter>(KernelContext&)>& plan) {
  const auto checked = [op, plan](KernelContext& run) -> Result<Scatter> {
    ASSAY_ASSIGN_OR_RETURN(Scatter scatter, plan(run));
    const int64_t wanted =
        static_cast<int64_t>(scatter.offsets.size()) * scatter.block;
    if (run.input(op.updates).num_elements() != wanted) {
      return InvalidArgument("updates is ", run.input(op.updates).Signature(),
                             ", wanted ", wanted, " elements");
    }
    return scatter;
  };
  if (op.reduction == "none") {
    const auto scatter_plainly = [=](KernelContext& run) -> Status {
      ASSAY_ASSIGN_OR_RETURN(const Scatter scatter, checked(run));
      return ScatterPlainly(run.input(op.data), run.input(op.updates), scatter,
                            op.output, run);
    };
    return WithMovedGradient(load, op.data,
                             MovingKernel(load, op.data, scatter_plainly));
  }
  ASSAY_RETURN_IF_ERROR(
      WordOf("reduction", op.reduction, {"none", "add", "mul", "max", "min"})
          .status());
  const auto make = [&]<class T>() -> Kernel {
    return {.forward = [=](KernelContext& run) -> Status {
      ASSAY_ASSIGN_OR_RETURN(const Scatter scatter, checked(run));
      return ScatterReducing<T>(run.input(op.data), run.input(op.updates),
                                scatter, op.reduction, op.output, run);
    }};
  };
  const bool needs_order = op.reduction == "max" || op.reduction == "min";
  if (IsComplex(load.dtype(op.data)) && !needs_order) {
    return KernelFrom(make.template operator()<Complex>());
  }
  return Dispatch(load, op.data, kNumbers, make);
}

// Compress-28: the slices along `axis`, or elements of the flattened input,
// where the condition is true; what it does not reach is left out.
Status Compress(const op::Compress& op, KernelContext& run) {
  const Tensor& x = run.input(op.input);
  const Tensor& condition = run.input(op.condition);
  AxisView view{.outer = 1, .count = x.num_elements(), .inner = 1};
  Shape shape = {x.num_elements()};
  int axis = 0;
  if (op.axis.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(axis, NormalizeAxis(*op.axis, x.shape()));
    ASSAY_ASSIGN_OR_RETURN(view, AxisView::Of(x.shape(), axis));
    shape = x.shape();
  }
  const std::span<const bool> kept = condition.elements<bool>();
  Offsets chosen;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    if (std::cmp_greater_equal(i, view.count)) {
      return InvalidArgument("condition has a true at ", i,
                             ", beyond the extent ", view.count);
    }
    chosen.push_back(static_cast<int64_t>(i));
  }
  shape[axis] = static_cast<int64_t>(chosen.size());
  ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(op.output, x.dtype(), shape));
  Offsets offsets;
  for (int64_t block = 0; block < view.outer; ++block) {
    for (const int64_t i : chosen) {
      offsets.push_back((block * view.count + i) * view.inner);
    }
  }
  MoveBlocksFrom(x, offsets, view.inner, *y);
  return OkStatus();
}

// NonZero-13: the coordinates of the elements that are not zero, [rank, n], in
// row-major order.
Status StoreCoordinates(const Offsets& found, const Shape& shape, Output output,
                        KernelContext& run) {
  const auto count = static_cast<int64_t>(found.size());
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<int64_t>(run, output, DType::kInt64,
                                                {shape.rank(), count}));
  const Strides strides = DenseStrides(shape);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    for (int64_t k = 0; k < count; ++k) {
      y[axis * count + k] = found[static_cast<size_t>(k)] /
                            strides[static_cast<size_t>(axis)] % shape[axis];
    }
  }
  return OkStatus();
}

template <class Test>
Status NonZero(const op::NonZero& op, KernelContext& run, const Test& is_zero) {
  const Tensor& x = run.input(op.x);
  Offsets found;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    if (!is_zero(i)) found.push_back(i);
  }
  return StoreCoordinates(found, x.shape(), op.y, run);
}

Result<Kernel> MakeScatterElements(const op::ScatterElements& op,
                                   LoadContext& load) {
  return ScatterKernel(load, op, [op](KernelContext& run) -> Result<Scatter> {
    ASSAY_ASSIGN_OR_RETURN(Offsets offsets,
                           ElementOffsets(run.input(op.data).shape(),
                                          run.input(op.indices), op.axis));
    return Scatter{std::move(offsets), 1};
  });
}

Result<Kernel> MakeScatterND(const op::ScatterND& op, LoadContext& load) {
  return ScatterKernel(load, op, [op](KernelContext& run) -> Result<Scatter> {
    ASSAY_ASSIGN_OR_RETURN(
        Blocks blocks,
        NamedBlocks(run.input(op.data).shape(), run.input(op.indices), 0));
    return Scatter{std::move(blocks.offsets), blocks.size};
  });
}

Result<Kernel> MakeNonZero(const op::NonZero& op, LoadContext& load) {
  if (load.dtype(op.x) == DType::kString) {  // the empty string is zero
    return Kernel{.forward = [op](KernelContext& run) {
      const auto x = run.input(op.x).strings();
      return NonZero(op, run, [&](int64_t i) {
        return x[static_cast<size_t>(i)].empty();
      });
    }};
  }
  if (IsComplex(load.dtype(op.x))) {
    return Kernel{.forward = [op](KernelContext& run) {
      const Loaded<Complex> x(run.input(op.x));
      return NonZero(op, run, [&](int64_t i) { return x[i] == Complex(); });
    }};
  }
  return Dispatch(load, op.x, kNumbers, [&]<class T>() -> Kernel {
    return {.forward = [op](KernelContext& run) {
      const Loaded<T> x(run.input(op.x));
      return NonZero(op, run, [&](int64_t i) { return Equal(x[i], T(0)); });
    }};
  });
}

}  // namespace

Family IndexingFamily() {
  return FamilyOf(Moved(Gather), Moved(GatherElements), Moved(GatherND),
                  MakeScatterElements, MakeScatterND, Moved(Compress),
                  MakeNonZero);
}

}  // namespace assay::reference
