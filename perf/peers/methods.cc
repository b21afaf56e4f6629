// SPDX-License-Identifier: Apache-2.0

#include "perf/peers/methods.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <utility>

#include "gradcheck/case/subject.h"

namespace assay::gradcheck::peers {
namespace {

void Append(const Numbers& more, Numbers* all, std::vector<Block>* blocks) {
  blocks->push_back({all->size(), all->size() + more.size()});
  all->insert(all->end(), more.begin(), more.end());
}

Numbers Part(const Numbers& all, Block block) {
  return {all.begin() + static_cast<int64_t>(block.begin),
          all.begin() + static_cast<int64_t>(block.end)};
}

double Product(const Numbers& a, const Numbers& b, Block block) {
  double sum = 0;
  for (size_t i = block.begin; i < block.end; ++i) sum += a[i] * b[i];
  return sum;
}

/// (f(x + h d) - f(x - h d)) / 2h. Leaves f at its x.
Result<Numbers> CentralDifference(Function& f, const Numbers& direction,
                                  double step) {
  Numbers above = f.x(), below = f.x();
  for (size_t i = 0; i < direction.size(); ++i) {
    above[i] += step * direction[i];
    below[i] -= step * direction[i];
  }
  ASSAY_ASSIGN_OR_RETURN(Numbers slope, f.At(above));
  ASSAY_ASSIGN_OR_RETURN(const Numbers low, f.At(below));
  ASSAY_RETURN_IF_ERROR(f.At(f.x()).status());
  for (size_t j = 0; j < slope.size(); ++j) {
    slope[j] = (slope[j] - low[j]) / (2 * step);
  }
  return slope;
}

/// Unsupported where the Jacobian of f is so great that it takes minutes for
/// each mutant.
Status CheckJacobian(const Function& f) {
  constexpr size_t kMostOfJacobian = 300'000;
  const size_t n = f.x().size() * f.n_out();
  if (n <= kMostOfJacobian) return OkStatus();
  return Unsupported(Reason::kReader, "a Jacobian of ", n, " elements");
}

/// True where every element of the Jacobian by central differences, one input
/// element at a time, agrees with that by one backward for each output element.
Result<bool> JacobiansAgree(
    Function& f, double step,
    const std::function<bool(double analytic, double numeric)>& agree) {
  ASSAY_RETURN_IF_ERROR(CheckJacobian(f));
  struct Entry {
    size_t column;
    double slope;
  };
  // By output; zeros are left out, since large Jacobians are sparse.
  std::vector<std::vector<Entry>> rows(f.n_out());
  Numbers x = f.x();
  for (size_t i = 0; i < x.size(); ++i) {
    const double own = x[i];
    x[i] = own + step;
    ASSAY_ASSIGN_OR_RETURN(const Numbers above, f.At(x));
    x[i] = own - step;
    ASSAY_ASSIGN_OR_RETURN(const Numbers below, f.At(x));
    x[i] = own;
    for (size_t j = 0; j < above.size(); ++j) {
      const double slope = (above[j] - below[j]) / (2 * step);
      if (slope != 0) rows[j].push_back({i, slope});
    }
  }
  ASSAY_RETURN_IF_ERROR(f.At(f.x()).status());
  Numbers dy(f.n_out(), 0), numeric(x.size());
  for (size_t j = 0; j < rows.size(); ++j) {
    dy[j] = 1;
    ASSAY_ASSIGN_OR_RETURN(const Numbers analytic, f.Backward(dy));
    dy[j] = 0;
    std::ranges::fill(numeric, 0);
    for (const Entry& entry : rows[j]) numeric[entry.column] = entry.slope;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!agree(analytic[i], numeric[i])) return false;
    }
  }
  return true;
}

// torch/autograd/gradcheck.py with its defaults: eps 1e-6, atol 1e-5, rtol
// 1e-3, nondet_tol 0, check_undefined_grad on. Slow mode compares Jacobians,
// fast mode one product of them between positive vectors of length 1.

constexpr double kStep = 1e-6;
constexpr double kAbsolute = 1e-5;
constexpr double kRelative = 1e-3;

bool Close(double analytic, double numeric, double absolute) {
  return std::abs(analytic - numeric) <=
         absolute + kRelative * std::abs(numeric);
}

bool AreZeros(const Numbers& numbers) {
  return std::ranges::all_of(numbers, [](double x) { return x == 0; });
}

/// A second backward gives the same bits, for each of these cotangents.
Result<bool> Repeats(Function& f, const Numbers& dy) {
  ASSAY_ASSIGN_OR_RETURN(const Numbers first, f.Backward(dy));
  ASSAY_ASSIGN_OR_RETURN(const Numbers second, f.Backward(dy));
  return first == second;
}

/// Zero cotangents, and absent ones among zeros, give zeros.
Result<bool> ZerosGiveZeros(Function& f) {
  const Numbers zeros(f.n_out(), 0);
  const int n = static_cast<int>(f.outputs().size());
  for (int absent = Function::kNone; absent < n; ++absent) {
    ASSAY_ASSIGN_OR_RETURN(const Numbers dx, f.Backward(zeros, absent));
    if (!AreZeros(dx)) return false;
  }
  return true;
}

/// In [0, 1), of length 1 together, in a block of zeros.
Numbers Positive(size_t size, Block block, Draw& draw) {
  Numbers direction(size, 0);
  double squares = 0;
  for (size_t i = block.begin; i < block.end; ++i) {
    direction[i] = draw.Uniform();
    squares += direction[i] * direction[i];
  }
  for (double& x : direction) x /= std::sqrt(squares);
  return direction;
}

double Sum(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

Result<bool> PyTorchSlow(Function& f, Draw&) {
  ASSAY_ASSIGN_OR_RETURN(
      const bool agree,
      JacobiansAgree(f, kStep, [](double analytic, double numeric) {
        return Close(analytic, numeric, kAbsolute);
      }));
  if (!agree) return false;
  Numbers dy(f.n_out(), 0);
  for (double& element : dy) {
    element = 1;
    ASSAY_ASSIGN_OR_RETURN(const bool repeats, Repeats(f, dy));
    element = 0;
    if (!repeats) return false;
  }
  return ZerosGiveZeros(f);
}

Result<bool> PyTorchFast(Function& f, Draw& draw) {
  for (const Block in : f.inputs()) {
    const Numbers u = Positive(f.x().size(), in, draw);
    ASSAY_ASSIGN_OR_RETURN(const Numbers slope, CentralDifference(f, u, kStep));
    for (const Block out : f.outputs()) {
      const Numbers v = Positive(f.n_out(), out, draw);
      ASSAY_ASSIGN_OR_RETURN(const Numbers dx, f.Backward(v));
      const double numeric = Product(slope, v, out);
      if (!Close(Product(dx, u, in), numeric, kAbsolute * Sum(u) * Sum(v))) {
        return false;
      }
      ASSAY_ASSIGN_OR_RETURN(const bool repeats, Repeats(f, v));
      if (!repeats) return false;
    }
  }
  return ZerosGiveZeros(f);
}

// jax/_src/public_test_util.py, check_vjp, with modes ["rev"] and order 1.

/// Absolute and relative.
double ToleranceOf(DType type) {
  switch (type) {
    case DType::kFloat64:
      return 1e-5;
    case DType::kFloat32:
      return 2e-3;
    case DType::kFloat16:
      return 1e-2;
    default:
      return 1e-1;
  }
}

Numbers Normal(size_t size, Draw& draw) {
  Numbers numbers(size);
  for (double& x : numbers) {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log(1 - draw.Uniform()));
    x = radius * std::cos(2 * std::numbers::pi * draw.Uniform());
  }
  return numbers;
}

/// A tangent from the normal distribution, its product with the gradient
/// against the product of the cotangent with a central difference of step 1e-4,
/// in the type of the case.
Result<bool> Jax(Function& f, Draw& draw) {
  const Numbers tangent = Normal(f.x().size(), draw);
  const Numbers cotangent = Normal(f.n_out(), draw);
  ASSAY_ASSIGN_OR_RETURN(const Numbers slope,
                         CentralDifference(f, tangent, 1e-4));
  ASSAY_ASSIGN_OR_RETURN(const Numbers dx, f.Backward(cotangent));
  const double numeric = Product(cotangent, slope, {0, slope.size()});
  const double tolerance = ToleranceOf(f.type());
  return std::abs(Product(tangent, dx, {0, dx.size()}) - numeric) <=
         tolerance + tolerance * std::abs(numeric);
}

/// tensorflow/python/ops/gradient_checker_v2.py: full Jacobians in the type of
/// the case, delta 1e-3, the greatest absolute difference. Its callers choose
/// the bound; 1e-3 is common.
Result<bool> TensorFlow(Function& f, Draw&) {
  return JacobiansAgree(f, 1e-3, [](double analytic, double numeric) {
    return std::abs(analytic - numeric) <= 1e-3;
  });
}

/// orttraining/orttraining/test/gradient/gradient_checker.cc: full Jacobians in
/// float32, delta 1e-3, the greatest absolute difference within 1.5e-2, NaN a
/// failure. Its inputs are drawn from N(0, 5); here they are the case's.
Result<bool> OnnxRuntime(Function& f, Draw&) {
  return JacobiansAgree(f, 1e-3, [](double analytic, double numeric) {
    return std::abs(analytic - numeric) <= 1.5e-2;
  });
}

/// deep500/lv0/validation/gradient.py: a Jacobian by central differences of
/// step 1e-5 in the type of the case, times a random positive cotangent,
/// against the gradient. It reports norms and judges nothing; the bound here is
/// that of torch.autograd.gradcheck, element by element.
Result<bool> Deep500(Function& f, Draw& draw) {
  ASSAY_RETURN_IF_ERROR(CheckJacobian(f));
  Numbers dy(f.n_out());
  for (double& element : dy) element = draw.Uniform();
  ASSAY_ASSIGN_OR_RETURN(const Numbers analytic, f.Backward(dy));
  Numbers direction(f.x().size(), 0);
  for (size_t i = 0; i < direction.size(); ++i) {
    direction[i] = 1;
    ASSAY_ASSIGN_OR_RETURN(const Numbers slope,
                           CentralDifference(f, direction, 1e-5));
    direction[i] = 0;
    double numeric = 0;
    for (size_t j = 0; j < dy.size(); ++j) numeric += dy[j] * slope[j];
    const bool close =
        std::abs(analytic[i] - numeric) <= 1e-5 + 1e-3 * std::abs(numeric);
    if (!close) return false;
  }
  return true;
}

}  // namespace

Result<Function> Function::Load(Backend& backend,
                                const suite::Subject& subject) {
  ASSAY_ASSIGN_OR_RETURN(Trial trial, Trial::Load(backend, subject));
  Function f(std::move(trial));
  for (size_t t = 0; t < subject.targets.size(); ++t) {
    ASSAY_ASSIGN_OR_RETURN(const Numbers numbers, f.trial_.NumbersOf(t));
    Append(numbers, &f.x_, &f.inputs_);
  }
  f.flows_ = CarryingOutputs(*subject.model);
  ASSAY_RETURN_IF_ERROR(f.trial_.Forward());
  Numbers y;
  for (size_t i = 0; i < f.flows_.size(); ++i) {
    if (!f.flows_[i]) continue;
    const Tensor& output = *f.trial_.outputs()[i].tensor();
    f.type_ = output.dtype();
    Append(NumbersOf(output), &y, &f.outputs_);
  }
  return f;
}

Result<Numbers> Function::At(const Numbers& x) {
  for (size_t t = 0; t < inputs_.size(); ++t) {
    ASSAY_RETURN_IF_ERROR(trial_.Put(t, Part(x, inputs_[t])));
  }
  ASSAY_RETURN_IF_ERROR(trial_.Forward());
  Numbers y;
  std::vector<Block> ignored;
  for (size_t i = 0; i < flows_.size(); ++i) {
    if (!flows_[i]) continue;
    Append(NumbersOf(*trial_.outputs()[i].tensor()), &y, &ignored);
  }
  return y;
}

Result<Numbers> Function::Backward(const Numbers& dy, int absent) {
  std::vector<Value> cotangents(flows_.size());
  size_t at = 0;
  for (size_t i = 0; i < flows_.size(); ++i) {
    if (!flows_[i]) continue;
    const Block block = outputs_[at++];
    if (static_cast<int>(at) - 1 == absent) continue;
    ASSAY_ASSIGN_OR_RETURN(
        cotangents[i], Tensor::Of<double>(trial_.outputs()[i].tensor()->shape(),
                                          Part(dy, block)));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> gradients,
                         trial_.Backward(cotangents, trial_.targets()));
  Numbers dx;
  std::vector<Block> ignored;
  for (const Value& gradient : gradients) {
    Append(NumbersOf(*gradient.tensor()), &dx, &ignored);
  }
  return dx;
}

std::span<const Method> Methods() {
  static constexpr Method kMethods[] = {
      {"PyTorch slow", true, &PyTorchSlow},
      {"PyTorch fast", true, &PyTorchFast},
      {"JAX", false, &Jax},
      {"TensorFlow", false, &TensorFlow},
      {"ORT", false, &OnnxRuntime},
      {"Deep500", false, &Deep500},
  };
  return kMethods;
}

}  // namespace assay::gradcheck::peers
