// SPDX-License-Identifier: Apache-2.0
//
// MatMul and Gemm: lists of Products. Their backward exchanges the roles of
// the operands of the same lists.

#include <algorithm>
#include <cmath>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/kernel/gradient.h"
#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/factors.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {
namespace {

template <class T>
Status MatMulForward(const op::MatMul& op, const SimdLoops<T>* loops,
                     KernelContext& run) {
  const Tensor& a = run.input(op.a);
  const Tensor& b = run.input(op.b);
  ASSAY_ASSIGN_OR_RETURN(const auto plan, PlanMatMul(a.shape(), b.shape()));
  const Factors<T> va(a);
  const Factors<T> vb(b);
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, op.y, a.dtype(), plan.y_shape));
  std::fill_n(y.data(), y.size(), T(0));
  plan.ForEach([&](int64_t ia, int64_t ib, int64_t iy) {
    Accumulate(loops, plan.product, va.At(ia), vb.At(ib), y.data() + iy);
  });
  return OkStatus();
}

template <class T>
Status MatMulBackward(const op::MatMul& op, const SimdLoops<T>* loops,
                      GradientContext& run) {
  const Tensor* cotangent = run.cotangent(op.y);
  if (cotangent == nullptr) return OkStatus();
  const Tensor& a = run.input(op.a);
  const Tensor& b = run.input(op.b);
  ASSAY_ASSIGN_OR_RETURN(const auto plan, PlanMatMul(a.shape(), b.shape()));
  const Loaded<T> dy(*cotangent);
  ASSAY_ASSIGN_OR_RETURN(auto da, GradientOf<T>(run, op.a));
  ASSAY_ASSIGN_OR_RETURN(auto db, GradientOf<T>(run, op.b));
  if (da.data() != nullptr) {
    const Loaded<T> vb(b);
    const FlowThrough<T> through(loops, vb);
    plan.ForEach([&](int64_t ia, int64_t ib, int64_t iy) {
      through.ToA(plan.product, dy.data() + iy, vb.data() + ib, da.data() + ia);
    });
  }
  if (db.data() != nullptr) {
    const Loaded<T> va(a);
    const FlowThrough<T> through(loops, va);
    plan.ForEach([&](int64_t ia, int64_t ib, int64_t iy) {
      through.ToB(plan.product, va.data() + ia, dy.data() + iy, db.data() + ib);
    });
  }
  return OkStatus();
}

// Gemm-13: Y = alpha * A' * B' + beta * C.
Result<Product> PlanGemm(const op::Gemm& op, const Shape& a, const Shape& b) {
  if (a.rank() != 2 || b.rank() != 2) {
    return InvalidArgument("shapes ", a.ToString(), " and ", b.ToString(),
                           ", wanted two matrices");
  }
  const bool turn_a = op.trans_a != 0;
  const bool turn_b = op.trans_b != 0;
  const int64_t inner = turn_a ? a[0] : a[1];
  const int64_t inner_b = turn_b ? b[1] : b[0];
  if (inner != inner_b) {
    return InvalidArgument("shapes ", a.ToString(), " (transA ", turn_a,
                           ") and ", b.ToString(), " (transB ", turn_b,
                           ") do not multiply: ", inner, " columns against ",
                           inner_b, " rows");
  }
  Product product =
      DenseProduct(turn_a ? a[1] : a[0], inner, turn_b ? b[0] : b[1]);
  if (turn_a) product.a = {1, product.rows};
  if (turn_b) product.b = {1, inner};
  product.scale = op.alpha;
  return product;
}

/// Calls body(of c, of y) for every element of Y, where there is a C.
template <class Body>
Status ForEachBias(const op::Gemm& op, const auto& run, const Shape& y,
                   const Body& body) {
  if (!op.c.present) return OkStatus();
  const Shape& c = run.input(op.c).shape();
  ASSAY_ASSIGN_OR_RETURN(const Shape both, Broadcast(c, y));
  if (both != y) {
    return InvalidArgument("input C of shape ", c.ToString(),
                           " does not broadcast to ", y.ToString());
  }
  Nest<2>(y, {BroadcastStrides(c, y), DenseStrides(y)}).ForEach(body);
  return OkStatus();
}

template <class T>
Status GemmForward(const op::Gemm& op, const SimdLoops<T>* loops,
                   KernelContext& run) {
  const Tensor& a = run.input(op.a);
  const Tensor& b = run.input(op.b);
  ASSAY_ASSIGN_OR_RETURN(const auto product,
                         PlanGemm(op, a.shape(), b.shape()));
  const Shape shape = {product.rows, product.columns};
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, op.y, a.dtype(), shape));
  std::fill_n(y.data(), y.size(), T(0));
  const Loaded<T> c(run.input(op.c));
  const T beta = static_cast<T>(op.beta);
  ASSAY_RETURN_IF_ERROR(ForEachBias(
      op, run, shape, [&](int64_t ic, int64_t iy) { y[iy] = beta * c[ic]; }));
  Accumulate(loops, product, Factors<T>(a).At(0), Factors<T>(b).At(0),
             y.data());
  return OkStatus();
}

// Gemm of integers whose alpha or beta is a fraction: the product as a whole
// number, the rest in double, truncated when stored (ONNX's reference
// implementation, numpy's astype).
template <class T>
Status GemmByFractions(const op::Gemm& op, KernelContext& run) {
  const Tensor& a = run.input(op.a);
  const Tensor& b = run.input(op.b);
  ASSAY_ASSIGN_OR_RETURN(Product product, PlanGemm(op, a.shape(), b.shape()));
  product.scale = 1;
  const Shape shape = {product.rows, product.columns};
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<double>(run, op.y, a.dtype(), shape));
  Scratch<T> whole(static_cast<size_t>(y.size()), T(0));
  Accumulate<T>(nullptr, product, Loaded<T>(a).data(), Loaded<T>(b).data(),
                whole.data());
  std::ranges::transform(whole, y.data(), [&](T sum) {
    return double{op.alpha} * static_cast<double>(sum);
  });
  const Loaded<double> c(run.input(op.c));
  return ForEachBias(op, run, shape, [&](int64_t ic, int64_t iy) {
    y[iy] += double{op.beta} * c[ic];
  });
}

template <class T>
Status GemmBackward(const op::Gemm& op, const SimdLoops<T>* loops,
                    GradientContext& run) {
  const Tensor* cotangent = run.cotangent(op.y);
  if (cotangent == nullptr) return OkStatus();
  const Tensor& a = run.input(op.a);
  const Tensor& b = run.input(op.b);
  ASSAY_ASSIGN_OR_RETURN(const auto product,
                         PlanGemm(op, a.shape(), b.shape()));
  const Loaded<T> dy(*cotangent);
  ASSAY_ASSIGN_OR_RETURN(auto da, GradientOf<T>(run, op.a));
  ASSAY_ASSIGN_OR_RETURN(auto db, GradientOf<T>(run, op.b));
  if (da.data() != nullptr) {
    const Loaded<T> vb(b);
    FlowThrough<T>(loops, vb).ToA(product, dy.data(), vb.data(), da.data());
  }
  if (db.data() != nullptr) {
    const Loaded<T> va(a);
    FlowThrough<T>(loops, va).ToB(product, va.data(), dy.data(), db.data());
  }
  ASSAY_ASSIGN_OR_RETURN(auto dc, GradientOf<double>(run, op.c));
  if (dc.data() == nullptr) return OkStatus();
  const double beta = op.beta;
  return ForEachBias(op, run, cotangent->shape(),
                     [&](int64_t ic, int64_t iy) { dc[ic] += beta * dy[iy]; });
}

Result<Kernel> MakeMatMul(const op::MatMul& op, LoadContext& load) {
  return Dispatch(load, op.a, kNumbers, [&]<class T>() {
    return ReadsFactors{
        std::bind_front(&MatMulForward<T>, op, LoopsOf<T>(load)), {op.a, op.b}};
  });
}

Result<Kernel> MakeGemm(const op::Gemm& op, LoadContext& load) {
  return Dispatch(load, op.a, kNumbers, [&]<class T>() -> Kernel {
    if constexpr (std::integral<T>) {
      if (std::trunc(op.alpha) != op.alpha || std::trunc(op.beta) != op.beta) {
        return {.forward = std::bind_front(&GemmByFractions<T>, op)};
      }
    }
    return {.forward = ReadsFactors{
                std::bind_front(&GemmForward<T>, op, LoopsOf<T>(load)),
                {op.a, op.b}}};
  });
}

}  // namespace

Family MatMulFamily() {
  return FamilyOf(WithBackward(RowOf(MakeMatMul),
                               []<class T>() { return &MatMulBackward<T>; }),
                  WithBackward(RowOf(MakeGemm),
                               []<class T>() { return &GemmBackward<T>; }));
}

}  // namespace assay::reference
