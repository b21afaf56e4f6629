// SPDX-License-Identifier: Apache-2.0
//
// MatMul and Gemm: lists of Products. Their backward exchanges the roles of
// the operands of the same lists.

#include <algorithm>
#include <cmath>
#include <functional>

#include "backends/reference/codec.h"
#include "backends/reference/families.h"
#include "backends/reference/nest.h"
#include "backends/reference/product.h"

namespace assay::reference {
namespace {

/// One Product, repeated over the batches that the nest (a, b, y) pairs.
struct Batched {
  Shape y_shape;
  Product product;
  Nest<3> batches;

  template <class Body>
  void ForEach(Body&& body) const {
    batches.ForEachRow([&](const Nest<3>::Row& row) {
      for (int64_t i = 0; i < row.count; ++i) {
        body(row.at[0] + i * row.step[0], row.at[1] + i * row.step[1],
             row.at[2] + i * row.step[2]);
      }
    });
  }
};

Strides Scaled(Strides strides, int64_t factor) {
  for (int64_t& stride : strides) stride *= factor;
  return strides;
}

Shape Leading(const Shape& shape, int count) {
  return Shape(std::vector<int64_t>(shape.begin(), shape.begin() + count));
}

// MatMul-13, "behaves like numpy.matmul": a vector is a row on the left and a
// column on the right, and its axis of extent 1 is left out of the result.
Result<Batched> PlanMatMul(const Shape& a, const Shape& b) {
  if (a.rank() == 0 || b.rank() == 0) {
    return InvalidArgument("shapes ", a.ToString(), " and ", b.ToString(),
                           ": a scalar is not a matrix");
  }
  const int64_t rows = a.rank() == 1 ? 1 : a[a.rank() - 2];
  const int64_t inner = a[a.rank() - 1];
  const int64_t columns = b.rank() == 1 ? 1 : b[b.rank() - 1];
  const int64_t inner_b = b[std::max(b.rank() - 2, 0)];
  if (inner != inner_b) {
    return InvalidArgument("shapes ", a.ToString(), " and ", b.ToString(),
                           " do not multiply: ", inner, " columns against ",
                           inner_b, " rows");
  }
  const Shape batch_a = Leading(a, std::max(a.rank() - 2, 0));
  const Shape batch_b = Leading(b, std::max(b.rank() - 2, 0));
  ASSAY_ASSIGN_OR_RETURN(const Shape batch, Broadcast(batch_a, batch_b));
  std::vector<int64_t> dims = batch.dims();
  if (a.rank() > 1) dims.push_back(rows);
  if (b.rank() > 1) dims.push_back(columns);
  Shape y_shape(std::move(dims));
  if (batch_b.rank() == 0) {  // one tall matrix on the left
    const int64_t all = Extent(batch_a, 0, batch_a.rank()) * rows;
    return Batched{std::move(y_shape), DenseProduct(all, inner, columns),
                   Nest<3>({}, {})};
  }
  const std::array<Strides, 3> strides = {
      Scaled(BroadcastStrides(batch_a, batch), rows * inner),
      Scaled(BroadcastStrides(batch_b, batch), inner * columns),
      Scaled(DenseStrides(batch), rows * columns)};
  return Batched{std::move(y_shape), DenseProduct(rows, inner, columns),
                 Nest<3>(batch, strides)};
}

template <class T>
Status MatMulForward(const op::MatMul& op, KernelContext& run) {
  const Tensor& a = run.input(op.a);
  const Tensor& b = run.input(op.b);
  ASSAY_ASSIGN_OR_RETURN(const Batched plan, PlanMatMul(a.shape(), b.shape()));
  const Loaded<T> va(a);
  const Loaded<T> vb(b);
  ASSAY_ASSIGN_OR_RETURN(Stored<T> y,
                         Store<T>(run, op.y, a.dtype(), plan.y_shape));
  std::fill_n(y.data(), y.size(), T(0));
  plan.ForEach([&](int64_t ia, int64_t ib, int64_t iy) {
    Accumulate(plan.product, va.data() + ia, vb.data() + ib, y.data() + iy);
  });
  return OkStatus();
}

template <class T>
Status MatMulBackward(const op::MatMul& op, GradientContext& run) {
  const Tensor* cotangent = run.cotangent(op.y);
  if (cotangent == nullptr) return OkStatus();
  const Tensor& a = run.input(op.a);
  const Tensor& b = run.input(op.b);
  ASSAY_ASSIGN_OR_RETURN(const Batched plan, PlanMatMul(a.shape(), b.shape()));
  const Loaded<T> dy(*cotangent);
  if (run.wanted(op.a)) {
    ASSAY_ASSIGN_OR_RETURN(Tensor * gradient, run.Gradient(op.a));
    const Loaded<T> vb(b);
    Stored<T> da(gradient);
    const Product product = ForA(plan.product);
    plan.ForEach([&](int64_t ia, int64_t ib, int64_t iy) {
      Accumulate(product, dy.data() + iy, vb.data() + ib, da.data() + ia);
    });
  }
  if (run.wanted(op.b)) {
    ASSAY_ASSIGN_OR_RETURN(Tensor * gradient, run.Gradient(op.b));
    const Loaded<T> va(a);
    Stored<T> db(gradient);
    const Product product = ForB(plan.product);
    plan.ForEach([&](int64_t ia, int64_t ib, int64_t iy) {
      Accumulate(product, va.data() + ia, dy.data() + iy, db.data() + ib);
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

/// The loop of C over Y: operands c and y.
Result<Nest<2>> BiasNest(const Shape& c, const Shape& y) {
  ASSAY_ASSIGN_OR_RETURN(const Shape both, Broadcast(c, y));
  if (both != y) {
    return InvalidArgument("input C of shape ", c.ToString(),
                           " does not broadcast to ", y.ToString());
  }
  return Nest<2>(y, {BroadcastStrides(c, y), DenseStrides(y)});
}

template <class T>
Status GemmForward(const op::Gemm& op, KernelContext& run) {
  const Tensor& a = run.input(op.a);
  const Tensor& b = run.input(op.b);
  ASSAY_ASSIGN_OR_RETURN(const Product product,
                         PlanGemm(op, a.shape(), b.shape()));
  const Shape shape = {product.rows, product.columns};
  ASSAY_ASSIGN_OR_RETURN(Stored<T> y, Store<T>(run, op.y, a.dtype(), shape));
  std::fill_n(y.data(), y.size(), T(0));
  if (op.c.present) {
    const Loaded<T> c(run.input(op.c));
    const T beta = static_cast<T>(op.beta);
    ASSAY_ASSIGN_OR_RETURN(const Nest<2> nest,
                           BiasNest(run.input(op.c).shape(), shape));
    nest.ForEachRow([&](const Nest<2>::Row& row) {
      for (int64_t i = 0; i < row.count; ++i) {
        y[row.at[1] + i] = beta * c[row.at[0] + i * row.step[0]];
      }
    });
  }
  const Loaded<T> va(a);
  const Loaded<T> vb(b);
  Accumulate(product, va.data(), vb.data(), y.data());
  return OkStatus();
}

template <class T>
Status GemmBackward(const op::Gemm& op, GradientContext& run) {
  const Tensor* cotangent = run.cotangent(op.y);
  if (cotangent == nullptr) return OkStatus();
  const Tensor& a = run.input(op.a);
  const Tensor& b = run.input(op.b);
  ASSAY_ASSIGN_OR_RETURN(const Product product,
                         PlanGemm(op, a.shape(), b.shape()));
  const Loaded<T> dy(*cotangent);
  if (run.wanted(op.a)) {
    ASSAY_ASSIGN_OR_RETURN(Tensor * gradient, run.Gradient(op.a));
    const Loaded<T> vb(b);
    Accumulate(ForA(product), dy.data(), vb.data(), Stored<T>(gradient).data());
  }
  if (run.wanted(op.b)) {
    ASSAY_ASSIGN_OR_RETURN(Tensor * gradient, run.Gradient(op.b));
    const Loaded<T> va(a);
    Accumulate(ForB(product), va.data(), dy.data(), Stored<T>(gradient).data());
  }
  if (op.c.present && run.wanted(op.c)) {
    ASSAY_ASSIGN_OR_RETURN(Tensor * gradient, run.Gradient(op.c));
    Stored<T> dc(gradient);
    const T beta = static_cast<T>(op.beta);
    ASSAY_ASSIGN_OR_RETURN(const Nest<2> nest,
                           BiasNest(gradient->shape(), cotangent->shape()));
    nest.ForEachRow([&](const Nest<2>::Row& row) {
      for (int64_t i = 0; i < row.count; ++i) {
        dc[row.at[0] + i * row.step[0]] += beta * dy[row.at[1] + i];
      }
    });
  }
  return OkStatus();
}

class MatMuls : public OperatorVisitor {
 public:
  Result<Kernel> Visit(const op::MatMul& op, LoadContext& load) override {
    return Dispatch(load, op.a, kNumbers, [&](auto scalar) -> Kernel {
      using T = typename decltype(scalar)::type;
      Kernel kernel{.forward = std::bind_front(&MatMulForward<T>, op)};
      if constexpr (std::integral<T>) return kernel;
      kernel.backward = std::bind_front(&MatMulBackward<T>, op);
      return kernel;
    });
  }
  Result<Kernel> Visit(const op::Gemm& op, LoadContext& load) override {
    return Dispatch(load, op.a, kNumbers, [&](auto scalar) -> Result<Kernel> {
      using T = typename decltype(scalar)::type;
      Kernel kernel{.forward = std::bind_front(&GemmForward<T>, op)};
      if constexpr (std::integral<T>) {
        if (std::trunc(op.alpha) != op.alpha ||
            std::trunc(op.beta) != op.beta) {
          return Unsupported(Reason::kAttribute, load.dtype(op.a),
                             " with alpha ", op.alpha, " and beta ", op.beta,
                             ", wanted whole numbers");
        }
        return kernel;
      }
      kernel.backward = std::bind_front(&GemmBackward<T>, op);
      return kernel;
    });
  }
};

}  // namespace

std::unique_ptr<OperatorVisitor> MatMulFamily() {
  return std::make_unique<MatMuls>();
}

}  // namespace assay::reference
