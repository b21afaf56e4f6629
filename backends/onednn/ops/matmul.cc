// SPDX-License-Identifier: Apache-2.0
//
// Gemm and MatMul: oneDNN's matmul, with its post-operations for the rest of
// Gemm's formula.
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "backends/onednn/ops/families.h"
#include "backends/onednn/ops/operands.h"

namespace assay::onednn {
namespace {

/// One matrix for all batches: their rows are rows of one product.
void FoldBatches(MatrixProduct& product) {
  const size_t rank = product.y.size();
  if (rank == 2 || kernels::Product(product.b, 0, rank - 2) != 1) return;
  const int64_t rows = kernels::Product(product.a, 0, rank - 1);
  product.a = {rows, product.a[rank - 1]};
  product.b = {product.b[rank - 2], product.b[rank - 1]};
  product.y = {rows, product.b[1]};
}

}  // namespace

Result<MatrixProduct> ReadProduct(const Shape& a, const Shape& b) {
  if (a.rank() == 0 || b.rank() == 0) {
    return InvalidArgument("a is ", a.ToString(), " and b ", b.ToString(),
                           ", wanted ranks of at least 1");
  }
  MatrixProduct product{.a = a.dims(), .b = b.dims()};
  if (a.rank() == 1) product.a.insert(product.a.begin(), 1);
  if (b.rank() == 1) product.b.push_back(1);
  const size_t rank = std::max(product.a.size(), product.b.size());
  product.a.insert(product.a.begin(), rank - product.a.size(), 1);
  product.b.insert(product.b.begin(), rank - product.b.size(), 1);
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (product.a[i] != product.b[i] && product.a[i] != 1 &&
        product.b[i] != 1) {
      return InvalidArgument("a is ", a.ToString(), " and b ", b.ToString(),
                             ", whose batches do not broadcast");
    }
    product.y.push_back(product.a[i] == 1 ? product.b[i] : product.a[i]);
  }
  if (product.a[rank - 1] != product.b[rank - 2]) {
    return InvalidArgument("a is ", a.ToString(), " and b ", b.ToString(),
                           ", whose inner extents differ");
  }
  std::vector<int64_t> shape = product.y;
  product.y.push_back(product.a[rank - 2]);
  product.y.push_back(product.b[rank - 1]);
  if (a.rank() > 1) shape.push_back(product.a[rank - 2]);
  if (b.rank() > 1) shape.push_back(product.b[rank - 1]);
  product.shape = Shape(shape);
  FoldBatches(product);
  return product;
}

namespace {

using dnnl::algorithm;

/// A matrix as stored, or its transpose by exchanged strides.
memory::desc Matrix(const TensorView& view, bool transposed) {
  if (!transposed) return view.Desc();
  return StridedDesc({view.shape[1], view.shape[0]}, view.type,
                     {1, std::max<int64_t>(view.shape[1], 1)});
}

/// C's extents as a matrix that repeats over [rows, columns].
Result<memory::dims> BiasExtents(const Shape& c, const Shape& y) {
  if (!kernels::BroadcastsTo(c, y)) {
    return InvalidArgument("c is ", c.ToString(),
                           ", wanted a shape that broadcasts to ",
                           y.ToString());
  }
  memory::dims extents = c.dims();
  while (extents.size() < 2) extents.insert(extents.begin(), 1);
  return extents;
}

/// True when Y = A W^T + c, with one entry of c a column: an inner product.
bool IsInnerProduct(ChainBuilder& chain, const op::Gemm& op,
                    const TensorView& a, const TensorView& b) {
  if (op.trans_a != 0 || op.alpha != 1 || a.count == 0 || b.count == 0) {
    return false;
  }
  if (!op.c.present || op.beta == 0) return true;
  const std::optional<Shape> c = chain.shape(op.c);
  const int64_t columns = b.shape[op.trans_b != 0 ? 0 : 1];
  return op.beta == 1 && c.has_value() &&
         (*c == Shape{columns} || *c == Shape{1, columns});
}

Status AddInnerProduct(ChainBuilder& chain, const op::Gemm& op,
                       const TensorView& a, const TensorView& b,
                       const TensorView& y) {
  const memory::desc given = Matrix(b, op.trans_b == 0);
  const memory::desc wanted =
      chain.fixed(op.b) == nullptr ? given : AnyLayout(given);
  using Desc = dnnl::inner_product_forward::primitive_desc;
  const bool biased = op.c.present && op.beta != 0;
  memory::desc bias;
  if (biased) {
    ASSAY_ASSIGN_OR_RETURN(const TensorView c, chain.View(op.c));
    bias = c.As({c.count});
  }
  const auto attr = ChainBuilder::attr();
  const Desc desc = biased ? Desc(chain.engine(), chain.prop(), a.Desc(),
                                  wanted, bias, y.Desc(), attr)
                           : Desc(chain.engine(), chain.prop(), a.Desc(),
                                  wanted, y.Desc(), attr);
  chain.Add<dnnl::inner_product_forward>(
      desc,
      {{DNNL_ARG_SRC, chain.In(op.a, a.Desc())},
       {DNNL_ARG_WEIGHTS, chain.Arranged(op.b, given, desc.weights_desc())},
       {DNNL_ARG_DST, chain.Out(op.y, y, y.Desc())},
       {DNNL_ARG_BIAS, biased ? chain.In(op.c, bias) : memory()}});
  return OkStatus();
}

/// Y = alpha A B + beta C where that is no inner product: alpha and the
/// addition are post-operations of the product; beta, where it is not 1, scales
/// C beforehand.
Status AddGemm(const op::Gemm& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView a, chain.View(op.a, CheckFloat));
  ASSAY_ASSIGN_OR_RETURN(const TensorView b, chain.View(op.b));
  if (a.shape.rank() != 2 || b.shape.rank() != 2) {
    return InvalidArgument("a is ", a.shape.ToString(), " and b ",
                           b.shape.ToString(), ", wanted two matrices");
  }
  const memory::desc left = Matrix(a, op.trans_a != 0);
  const memory::desc right = Matrix(b, op.trans_b != 0);
  if (left.get_dims()[1] != right.get_dims()[0]) {
    return InvalidArgument("a is ", a.shape.ToString(), " and b ",
                           b.shape.ToString(), ", whose inner extents differ");
  }
  ASSAY_ASSIGN_OR_RETURN(
      const TensorView y,
      chain.View(a.dtype, {left.get_dims()[0], right.get_dims()[1]}));
  if (IsInnerProduct(chain, op, a, b)) {
    return AddInnerProduct(chain, op, a, b, y);
  }
  auto attr = ChainBuilder::attr();
  dnnl::post_ops after;
  std::vector<ChainBuilder::Argument> arguments;
  if (op.alpha != 1) {
    after.append_eltwise(algorithm::eltwise_linear, op.alpha, 0);
  }
  if (op.c.present && op.beta != 0) {
    ASSAY_ASSIGN_OR_RETURN(const TensorView c, chain.View(op.c));
    ASSAY_ASSIGN_OR_RETURN(const auto extents, BiasExtents(c.shape, y.shape));
    memory bias = chain.In(op.c, c.As(extents));
    if (op.beta != 1) {
      const memory scaled = chain.Temporary(c.As(extents));
      chain.Eltwise(algorithm::eltwise_linear, op.beta, 0, bias, scaled);
      bias = scaled;
    }
    arguments.push_back(
        {DNNL_ARG_ATTR_MULTIPLE_POST_OP(after.len()) | DNNL_ARG_SRC_1, bias});
    after.append_binary(algorithm::binary_add, c.As(extents));
  }
  attr.set_post_ops(after);
  arguments.push_back({DNNL_ARG_SRC, chain.In(op.a, left)});
  arguments.push_back({DNNL_ARG_WEIGHTS, chain.In(op.b, right)});
  arguments.push_back({DNNL_ARG_DST, chain.Out(op.y, y, y.Desc())});
  chain.Add<dnnl::matmul>({chain.engine(), left, right, y.Desc(), attr},
                          arguments);
  return OkStatus();
}

Status AddMatMul(const op::MatMul& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView a, chain.View(op.a, CheckFloat));
  ASSAY_ASSIGN_OR_RETURN(const TensorView b, chain.View(op.b));
  ASSAY_ASSIGN_OR_RETURN(const auto product, ReadProduct(a.shape, b.shape));
  ASSAY_ASSIGN_OR_RETURN(const auto y, chain.View(a.dtype, product.shape));
  const memory::desc left = a.As(product.a);
  const memory::desc right = b.As(product.b);
  const memory::desc out = y.As(product.y);
  chain.Add<dnnl::matmul>(
      {chain.engine(), left, right, out, ChainBuilder::attr()},
      {{DNNL_ARG_SRC, chain.In(op.a, left)},
       {DNNL_ARG_WEIGHTS, chain.In(op.b, right)},
       {DNNL_ARG_DST, chain.Out(op.y, y, out)}});
  return OkStatus();
}

}  // namespace

FamilyPointer MakeMatMul(const std::shared_ptr<const Device>& device) {
  return FamilyOf(device, AddGemm, AddMatMul);
}

}  // namespace assay::onednn
