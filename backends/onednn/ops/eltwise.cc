// SPDX-License-Identifier: Apache-2.0
//
// Operators of one operand: oneDNN's eltwise primitive, alone or a short chain
// of primitives that is the operator's formula. PRelu has a primitive.
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/onednn/ops/families.h"

namespace assay::onednn {
namespace {

using dnnl::algorithm;

/// One application of an eltwise algorithm, in oneDNN's terms.
struct Step {
  algorithm kind;
  float alpha = 0;
  float beta = 0;
};

using Steps = std::vector<Step>;

/// The one operand and the result, of its type and shape, as vectors.
struct Vectors {
  TensorView view;
  memory::desc desc;
  memory x, y;
};

Result<Vectors> VectorsOf(ChainBuilder& chain, ChainBuilder::TypeCheck check) {
  constexpr Input kFirst{0, true};
  ASSAY_ASSIGN_OR_RETURN(const TensorView view, chain.View(kFirst, check));
  const memory::desc desc = view.As({view.count});
  return Vectors{view, desc, chain.In(kFirst, desc),
                 chain.Out(Output{0, true}, view, desc)};
}

/// y = s_n(... s_1(x)): the first step reads x, the others work in y where that
/// is allowed.
Status Apply(const Steps& steps, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(
      const Vectors v,
      VectorsOf(chain, steps.size() > 1 ? CheckFloat32 : CheckFloat));
  memory from = v.x;
  for (size_t i = 0; i < steps.size(); ++i) {
    const memory to = i + 1 < steps.size() ? chain.Apart(v.y) : v.y;
    chain.Eltwise(steps[i].kind, steps[i].alpha, steps[i].beta, from, to);
    from = to;
  }
  return OkStatus();
}

/// Rows of operators that are a step, or steps_of(op).
template <class Op, class StepsOf>
auto Applied(StepsOf steps_of) {
  return On<Op>([steps_of](const Op& op, ChainBuilder& chain) {
    return Apply(steps_of(op), chain);
  });
}
template <class Op>
auto Applied(algorithm kind, float alpha = 0, float beta = 0) {
  return Applied<Op>([=](const Op&) { return Steps{{kind, alpha, beta}}; });
}

/// max(0, x) + min(0, a (exp(x / a) - 1)) = a elu(x / a; 1) for a > 0.
Result<Fill> MakeCelu(const op::Celu& op, LoadContext&) {
  if (!(op.alpha > 0)) {
    return Unsupported(Reason::kAttribute, "alpha is ", op.alpha,
                       ", a chain of oneDNN primitives is Celu for "
                       "alpha > 0 only");
  }
  return std::bind_front(&Apply,
                         Steps{{algorithm::eltwise_linear, 1 / op.alpha, 0},
                               {algorithm::eltwise_elu, 1},
                               {algorithm::eltwise_linear, op.alpha, 0}});
}

/// min(max(x, lower), upper). Element types of 8 bits are exact in float32.
Status AddClip(const op::Clip& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const Vectors v, VectorsOf(chain, CheckExact));
  memory from = v.x;
  if (!op.min.present && !op.max.present) chain.Copy(v.x, v.y);
  for (const auto& [bound, kind] : {std::pair(op.min, algorithm::binary_max),
                                    std::pair(op.max, algorithm::binary_min)}) {
    if (!bound.present) continue;
    ASSAY_ASSIGN_OR_RETURN(const TensorView scalar, chain.View(bound));
    if (scalar.count != 1) {
      return InvalidArgument("bound ", bound.position, " is ",
                             scalar.shape.ToString(), ", wanted a scalar");
    }
    const bool last = bound.position == op.max.position || !op.max.present;
    const memory to = last ? v.y : chain.Apart(v.y);
    chain.Binary(kind, from, chain.In(bound, scalar.As({1})), to);
    from = to;
  }
  return OkStatus();
}

Result<Fill> MakeGelu(const op::Gelu& op, LoadContext&) {
  if (op.approximate == "none") {
    return std::bind_front(&Apply, Steps{{algorithm::eltwise_gelu_erf}});
  }
  if (op.approximate == "tanh") {
    return std::bind_front(&Apply, Steps{{algorithm::eltwise_gelu_tanh}});
  }
  return InvalidArgument("approximate is '", op.approximate,
                         "', wanted none or tanh");
}

/// -1 x. Not a linear function with -0 added, which keeps the signs of zeros
/// too: oneDNN's cache of primitives takes -0 for equal to 0, and may give the
/// one that adds 0.
Status AddNeg(const op::Neg&, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const Vectors v, VectorsOf(chain, CheckFloat));
  chain.Binary(algorithm::binary_mul, v.x, chain.Constant(-1), v.y);
  return OkStatus();
}

/// 1 - x over bytes of 0 and 1.
Status AddNot(const op::Not&, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const Vectors v, VectorsOf(chain, nullptr));
  chain.Eltwise(algorithm::eltwise_linear, -1, 1, v.x, v.y);
  return OkStatus();
}

Status AddPRelu(const op::PRelu& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckFloat));
  ASSAY_ASSIGN_OR_RETURN(const TensorView slope, chain.View(op.slope));
  if (!kernels::BroadcastsTo(slope.shape, x.shape)) {
    return InvalidArgument("slope is ", slope.shape.ToString(),
                           ", wanted a shape that broadcasts to ",
                           x.shape.ToString());
  }
  ASSAY_ASSIGN_OR_RETURN(const kernels::Broadcast axes,
                         kernels::BroadcastShapes(x.shape, slope.shape));
  const memory::desc data = x.As(axes.a);
  const memory::desc weights = slope.As(axes.b);
  chain.DeclineFor(Reason::kShape);
  chain.Add<dnnl::prelu_forward>(
      {chain.engine(), chain.prop(), data, weights, data, chain.attr()},
      {{DNNL_ARG_SRC, chain.In(op.x, data)},
       {DNNL_ARG_WEIGHTS, chain.In(op.slope, weights)},
       {DNNL_ARG_DST, chain.Out(op.y, x, data)}});
  return OkStatus();
}

/// oneDNN raises to one power, which a primitive is made for.
Status AddPow(const op::Pow& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckFloat));
  const std::optional<Shape> shape = chain.shape(op.y);
  const int64_t count =
      shape ? kernels::Product(shape->dims(), 0, shape->dims().size()) : 1;
  if (count != 1 || (shape && shape->rank() > x.shape.rank())) {
    return Unsupported(Reason::kAttribute, "the exponent is ",
                       shape->ToString(),
                       ", oneDNN raises all elements to one power");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<float> exponent,
                         chain.Floats(op.y, "the exponent"));
  if (exponent.size() != 1) {
    return Unsupported(Reason::kAttribute, "the exponent is no scalar");
  }
  const memory::desc flat = x.As({x.count});
  chain.Eltwise(algorithm::eltwise_pow, 1, exponent[0], chain.In(op.x, flat),
                chain.Out(op.z, x, flat));
  return OkStatus();
}

/// Exact for elements of 8 bits too.
Status AddRelu(const op::Relu&, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const Vectors v, VectorsOf(chain, CheckExact));
  chain.Eltwise(algorithm::eltwise_relu, 0, 0, v.x, v.y);
  return OkStatus();
}

/// x / (1 + |x|).
Status AddSoftsign(const op::Softsign&, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const Vectors v, VectorsOf(chain, CheckFloat32));
  const memory size = chain.Temporary(v.desc);
  const memory divisor = chain.Apart(size);
  chain.Eltwise(algorithm::eltwise_abs, 0, 0, v.x, size);
  chain.Eltwise(algorithm::eltwise_linear, 1, 1, size, divisor);
  chain.Binary(algorithm::binary_div, v.x, divisor, v.y);
  return OkStatus();
}

/// Floor and Ceil: the nearest whole number, less `correction` where it is on
/// the wrong side of x.
template <class Op>
auto ToWhole(algorithm wrong_side, float correction) {
  return On<Op>([=](const Op&, ChainBuilder& chain) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const Vectors v, VectorsOf(chain, CheckFloat32));
    const memory wrong = chain.Temporary(v.desc);
    chain.Eltwise(algorithm::eltwise_round, 0, 0, v.x, v.y);
    chain.Binary(wrong_side, v.y, v.x, wrong);
    // The number subtracted is 0, never -0, which keeps the sign of a zero.
    chain.Eltwise(algorithm::eltwise_linear, correction, 0, wrong, wrong);
    chain.Binary(algorithm::binary_sub, v.y, wrong, v.y);
    return OkStatus();
  });
}

/// x equals the infinities that are asked for.
Status AddIsInf(const op::IsInf& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckFloat32));
  ASSAY_ASSIGN_OR_RETURN(const TensorView y, chain.View(DType::kBool, x.shape));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const memory::desc flat = x.As({x.count});
  const memory from = chain.In(op.x, flat);
  const memory to = chain.Out(op.y, y, y.As({y.count}));
  const bool both = op.detect_negative != 0 && op.detect_positive != 0;
  if (op.detect_negative == 0 && op.detect_positive == 0) {
    chain.Binary(algorithm::binary_lt, from, chain.Constant(-kInfinity), to);
  } else if (both) {
    const memory size = chain.Temporary(flat);
    chain.Eltwise(algorithm::eltwise_abs, 0, 0, from, size);
    chain.Binary(algorithm::binary_eq, size, chain.Constant(kInfinity), to);
  } else {
    const float end = op.detect_positive != 0 ? kInfinity : -kInfinity;
    chain.Binary(algorithm::binary_eq, from, chain.Constant(end), to);
  }
  return OkStatus();
}

/// NaN alone differs from itself.
Status AddIsNaN(const op::IsNaN& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckFloat32));
  ASSAY_ASSIGN_OR_RETURN(const TensorView y, chain.View(DType::kBool, x.shape));
  const memory from = chain.In(op.x, x.As({x.count}));
  chain.Binary(algorithm::binary_ne, from, from,
               chain.Out(op.y, y, y.As({y.count})));
  return OkStatus();
}

/// (x > 0) - (x < 0), times and over d = 1 - (x != x): 0 / 0 where x is NaN.
Status AddSign(const op::Sign&, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const Vectors v, VectorsOf(chain, CheckFloat32));
  const memory below = chain.Temporary(v.desc);
  const memory number = chain.Temporary(v.desc);
  const memory zero = chain.Constant(0);
  chain.Binary(algorithm::binary_gt, v.x, zero, v.y);
  chain.Binary(algorithm::binary_lt, v.x, zero, below);
  chain.Binary(algorithm::binary_sub, v.y, below, v.y);
  chain.Binary(algorithm::binary_ne, v.x, v.x, number);
  chain.Eltwise(algorithm::eltwise_linear, -1, 1, number, number);
  chain.Binary(algorithm::binary_mul, v.y, number, v.y);
  chain.Binary(algorithm::binary_div, v.y, number, v.y);
  return OkStatus();
}

/// (x > l) (max(x, l) - b) + (x < -l) (min(x, -l) + b): the bounds keep the
/// factors finite where the masks are 0.
Status AddShrink(const op::Shrink& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const Vectors v, VectorsOf(chain, CheckFloat32));
  const memory above = chain.Apart(v.y);
  const memory below = chain.Temporary(v.desc);
  const memory shared = chain.Temporary(v.desc);
  const auto side = [&](float lambda, float bias, algorithm beyond,
                        algorithm bound, const memory& to) {
    const memory end = chain.Constant(lambda);
    const memory mask = chain.Apart(shared);
    const memory bounded = chain.Apart(to);
    const memory moved = chain.Apart(to);
    chain.Binary(beyond, v.x, end, mask);
    chain.Binary(bound, v.x, end, bounded);
    chain.Eltwise(algorithm::eltwise_linear, 1, -bias, bounded, moved);
    chain.Binary(algorithm::binary_mul, moved, mask, to);
  };
  side(op.lambd, op.bias, algorithm::binary_gt, algorithm::binary_max, above);
  side(-op.lambd, -op.bias, algorithm::binary_lt, algorithm::binary_min, below);
  chain.Binary(algorithm::binary_add, above, below, v.y);
  return OkStatus();
}

/// max(x, a) where x > a, else 0: the maximum keeps the factor finite where
/// the mask is 0.
Status AddThresholdedRelu(const op::ThresholdedRelu& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const Vectors v, VectorsOf(chain, CheckFloat32));
  const memory mask = chain.Temporary(v.desc);
  const memory alpha = chain.Constant(op.alpha);
  const memory bounded = chain.Apart(v.y);
  chain.Binary(algorithm::binary_gt, v.x, alpha, mask);
  chain.Binary(algorithm::binary_max, v.x, alpha, bounded);
  chain.Binary(algorithm::binary_mul, bounded, mask, v.y);
  return OkStatus();
}

}  // namespace

FamilyPointer MakeEltwise(const std::shared_ptr<const Device>& device) {
  return FamilyOf(
      device, Applied<op::Abs>(algorithm::eltwise_abs), MakeCelu,
      ToWhole<op::Ceil>(algorithm::binary_lt, -1), AddClip,
      Applied<op::Elu>([](const auto& op) {
        return Steps{{algorithm::eltwise_elu, op.alpha}};
      }),
      Applied<op::Exp>(algorithm::eltwise_exp),
      ToWhole<op::Floor>(algorithm::binary_gt, 1), MakeGelu,
      Applied<op::HardSigmoid>([](const auto& op) {
        return Steps{{algorithm::eltwise_hardsigmoid, op.alpha, op.beta}};
      }),
      Applied<op::HardSwish>(algorithm::eltwise_hardswish, 1.0F / 6, 0.5F),
      AddIsInf, AddIsNaN, Applied<op::LeakyRelu>([](const auto& op) {
        return Steps{{algorithm::eltwise_relu, op.alpha}};
      }),
      Applied<op::Log>(algorithm::eltwise_log),
      Applied<op::Mish>(algorithm::eltwise_mish), AddNeg, AddNot, AddPRelu,
      AddPow, Applied<op::Reciprocal>(algorithm::eltwise_pow, 1, -1), AddRelu,
      Applied<op::Round>(algorithm::eltwise_round),
      Applied<op::Selu>([](const auto& op) {
        return Steps{{algorithm::eltwise_elu, op.alpha},
                     {algorithm::eltwise_linear, op.gamma, 0}};
      }),
      AddShrink, Applied<op::Sigmoid>(algorithm::eltwise_logistic), AddSign,
      Applied<op::Softplus>(algorithm::eltwise_soft_relu, 1), AddSoftsign,
      Applied<op::Sqrt>(algorithm::eltwise_sqrt),
      Applied<op::Swish>([](const auto& op) {
        return Steps{{algorithm::eltwise_swish, op.alpha}};
      }),
      Applied<op::Tanh>(algorithm::eltwise_tanh), AddThresholdedRelu);
}

}  // namespace assay::onednn
