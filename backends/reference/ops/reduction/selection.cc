// SPDX-License-Identifier: Apache-2.0
//
// Operators that choose elements by comparing them: ArgMax, ArgMin, TopK.

#include <algorithm>
#include <numeric>

#include "backends/reference/families.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {
namespace {

// ArgMax-13, ArgMin-13: the index along the axis of the first of the greatest
// (least) values, or the last of them.
template <class T, bool kLeast, class Op>
Status ArgExtreme(const Op& op, KernelContext& run) {
  const Tensor& data = run.input(op.data);
  ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(op.axis, data.shape()));
  ASSAY_ASSIGN_OR_RETURN(const auto view, AxisView::Of(data.shape(), axis));
  if (view.count == 0) {
    return InvalidArgument("axis ", axis, " of shape ", data.shape().ToString(),
                           " has no elements");
  }
  Dims dims = data.shape().dims();
  if (op.keepdims != 0) {
    dims[static_cast<size_t>(axis)] = 1;
  } else {
    dims.erase(dims.begin() + axis);
  }
  const Loaded<T> x(data);
  ASSAY_ASSIGN_OR_RETURN(
      auto y, Store<int64_t>(run, op.reduced, DType::kInt64, Shape(dims)));
  int64_t at = 0;
  view.ForEachLine([&](int64_t start) {
    Choose<T, kLeast> extreme;
    for (int64_t k = 0; k < view.count; ++k) {
      // Offered from the back, the last of equals comes first.
      const int64_t i = op.select_last_index != 0 ? view.count - 1 - k : k;
      extreme.Offer(x[start + i * view.inner], i);
    }
    y[at++] = extreme.index();
  });
  return OkStatus();
}

// TopK-24: the k greatest (least) values along the axis in order; of equal
// values the one with the lower index comes first.
template <class T>
Status TopK(const op::TopK& op, KernelContext& run) {
  const Tensor& input = run.input(op.x);
  const Scratch<int64_t> wanted = IntegersOf(run.input(op.k));
  ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(op.axis, input.shape()));
  ASSAY_ASSIGN_OR_RETURN(const auto view, AxisView::Of(input.shape(), axis));
  if (wanted.size() != 1 || wanted[0] < 0 || wanted[0] > view.count) {
    return InvalidArgument("input K is ", Shape(wanted).ToString(),
                           ", wanted one number up to ", view.count);
  }
  Shape shape = input.shape();
  shape[axis] = wanted[0];
  const Loaded<T> x(input);
  ASSAY_ASSIGN_OR_RETURN(auto values,
                         Store<T>(run, op.values, input.dtype(), shape));
  ASSAY_ASSIGN_OR_RETURN(auto indices,
                         Store<int64_t>(run, op.indices, DType::kInt64, shape));
  Scratch<int64_t> order(static_cast<size_t>(view.count));
  const bool largest = op.largest != 0;
  const bool tells = indices.data() != nullptr;
  // Which is first shows in the indices; of the values it is a kink.
  const auto lower = [tells](T a, T b) {
    if (tells) return Less(a, b);
    static_cast<void>(Before(a, b));
    return Value(a) < Value(b);
  };
  const bool takes_first = tells || TakesFirst<T>();
  int64_t line = 0;
  view.ForEachLine([&](int64_t start) {
    const auto comes_first = [&](int64_t i, int64_t k) {
      const T a = x[start + i * view.inner];
      const T b = x[start + k * view.inner];
      if (IsNan(a) != IsNan(b)) return IsNan(a) == largest;
      if (largest ? lower(b, a) : lower(a, b)) return true;
      if (largest ? lower(a, b) : lower(b, a)) return false;
      return takes_first ? i < k : k < i;
    };
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + wanted[0], order.end(),
                      comes_first);
    const int64_t to =
        line / view.inner * view.inner * wanted[0] + line % view.inner;
    for (int64_t k = 0; k < wanted[0]; ++k) {
      const int64_t i = order[static_cast<size_t>(k)];
      const int64_t at = to + k * view.inner;
      if (values.data() != nullptr) values[at] = x[start + i * view.inner];
      if (indices.data() != nullptr) indices[at] = i;
    }
    ++line;
  });
  return OkStatus();
}

}  // namespace

Family SelectionFamily() {
  return FamilyOf(
      Typed(kNumbers,
            []<class T>() { return &ArgExtreme<T, false, op::ArgMax>; }),
      Typed(kNumbers,
            []<class T>() { return &ArgExtreme<T, true, op::ArgMin>; }),
      Typed(kNumbers, []<class T>() { return &TopK<T>; }));
}

}  // namespace assay::reference
