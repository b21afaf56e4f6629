// SPDX-License-Identifier: Apache-2.0
//
// Unique-11: the different elements of a tensor, or slices along an axis.

#include <algorithm>
#include <functional>
#include <numeric>

#include "backends/reference/families.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {
namespace {

/// Slice i against slice j: negative, 0 or positive.
using Order = std::function<int(int64_t i, int64_t j)>;

// NaN, which is equal to itself here as in numpy.unique, comes last.
template <class T>
int CompareElements(const T& a, const T& b) {
  if constexpr (std::same_as<T, std::string>) {
    return a.compare(b);
  } else {
    if (Less(a, b)) return -1;
    if (Less(b, a)) return 1;
    if (Equal(a, b)) return 0;
    return static_cast<int>(IsNan(a)) - static_cast<int>(IsNan(b));
  }
}

// By the real part, then by the imaginary one, as numpy sorts.
int CompareElements(const Complex& a, const Complex& b) {
  const int order = CompareElements(a.real(), b.real());
  return order != 0 ? order : CompareElements(a.imag(), b.imag());
}

// Slices element by element, the first that differ deciding.
template <class T>
Order SliceOrder(const T* x, const AxisView& view) {
  return [x, view](int64_t i, int64_t j) {
    for (int64_t block = 0; block < view.outer; ++block) {
      const T* a = x + (block * view.count + i) * view.inner;
      const T* b = x + (block * view.count + j) * view.inner;
      for (int64_t k = 0; k < view.inner; ++k) {
        const int order = CompareElements(a[k], b[k]);
        if (order != 0) return order;
      }
    }
    return 0;
  };
}

/// Groups of equal slices.
struct Groups {
  Scratch<int64_t> first;    // position of the first of each group
  Scratch<int64_t> of;       // the group of each slice
  Scratch<int64_t> members;  // of each group

  static Groups Of(int64_t count, const Order& order, bool sorted) {
    Scratch<int64_t> by_value(static_cast<size_t>(count));
    std::iota(by_value.begin(), by_value.end(), 0);
    std::ranges::stable_sort(
        by_value, [&](int64_t i, int64_t j) { return order(i, j) < 0; });
    Groups groups;
    groups.of.resize(by_value.size());
    for (const int64_t i : by_value) {
      if (groups.first.empty() || order(groups.first.back(), i) != 0) {
        groups.first.push_back(i);
        groups.members.push_back(0);
      }
      ++groups.members.back();
      groups.of[static_cast<size_t>(i)] = std::ssize(groups.first) - 1;
    }
    if (!sorted) groups.OrderByPosition();
    return groups;
  }

  void OrderByPosition() {
    Scratch<size_t> old(first.size());
    std::iota(old.begin(), old.end(), size_t{0});
    std::ranges::sort(old, {}, [&](size_t g) { return first[g]; });
    Scratch<int64_t> place(old.size());
    Groups moved;
    for (size_t g = 0; g < old.size(); ++g) {
      place[old[g]] = static_cast<int64_t>(g);
      moved.first.push_back(first[old[g]]);
      moved.members.push_back(members[old[g]]);
    }
    for (const int64_t g : of) {
      moved.of.push_back(place[static_cast<size_t>(g)]);
    }
    *this = std::move(moved);
  }
};

Status StoreIntegers(const Scratch<int64_t>& values, Output output,
                     KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(
      Tensor * y, run.Output(output, DType::kInt64, {std::ssize(values)}));
  if (y != nullptr) {
    std::ranges::copy(values, y->mutable_elements<int64_t>().begin());
  }
  return OkStatus();
}

Status StoreGroups(const op::Unique& op, const Groups& groups, const Tensor& x,
                   int axis, KernelContext& run) {
  Shape shape = x.shape();
  shape[axis] = std::ssize(groups.first);
  ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(op.y, x.dtype(), shape));
  const Strides from = DenseStrides(x.shape());
  const Strides to = DenseStrides(shape);
  const auto k = static_cast<size_t>(axis);
  shape[axis] = 1;
  const Nest<2> slice(shape, {from, to});
  for (size_t g = 0; g < groups.first.size(); ++g) {
    MoveElements(x, *y, slice, groups.first[g] * from[k],
                 static_cast<int64_t>(g) * to[k]);
  }
  ASSAY_RETURN_IF_ERROR(StoreIntegers(groups.first, op.indices, run));
  ASSAY_RETURN_IF_ERROR(StoreIntegers(groups.of, op.inverse_indices, run));
  return StoreIntegers(groups.members, op.counts, run);
}

template <class Values>
Status Unique(const op::Unique& op, KernelContext& run, const Values& values) {
  Tensor x = run.input(op.x);
  if (!op.axis.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(x, x.Reshape({x.num_elements()}));
  }
  ASSAY_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(op.axis.value_or(0), x.shape()));
  ASSAY_ASSIGN_OR_RETURN(const auto view, AxisView::Of(x.shape(), axis));
  const Groups groups =
      Groups::Of(view.count, SliceOrder(values.data(), view), op.sorted != 0);
  return StoreGroups(op, groups, x, axis, run);
}

Result<Kernel> MakeUnique(const op::Unique& op, LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(CheckMovable(load, op.x));
  if (load.dtype(op.x) == DType::kString) {
    return Kernel{.forward = [op](KernelContext& run) {
      return Unique(op, run, run.input(op.x).strings());
    }};
  }
  if (IsComplex(load.dtype(op.x))) {
    return Kernel{.forward = [op](KernelContext& run) {
      return Unique(op, run, Loaded<Complex>(run.input(op.x)));
    }};
  }
  return Dispatch(load, op.x, kNumbers, [&]<class T>() -> Kernel {
    return {.forward = [op](KernelContext& run) {
      return Unique(op, run, Loaded<T>(run.input(op.x)));
    }};
  });
}

}  // namespace

Family UniqueFamily() { return FamilyOf(MakeUnique); }

}  // namespace assay::reference
