// SPDX-License-Identifier: Apache-2.0
//
// Operators that draw: Bernoulli, Dropout, RandomUniform, RandomNormal, their
// forms with "Like", Multinomial.
//
// A node with a seed starts the engine anew at every run, so that equal seeds
// give equal results; a node without one takes the next seed at every run
// (seeds.h). The C++ standard fixes the numbers of an engine of <random>, but
// not those of a distribution, so the few distributions that are needed are
// written out.

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "backends/reference/families.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/seeds.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {
namespace {

uint64_t SeedOf(const std::optional<int64_t>& seed) {
  return seed.has_value() ? static_cast<uint64_t>(*seed) : NextSeed();
}
uint64_t SeedOf(const std::optional<float>& seed) {
  return seed.has_value() ? std::bit_cast<uint32_t>(*seed) : NextSeed();
}

/// Knuth's linear congruential engine modulo 2^64 (The Art of Computer
/// Programming 2, 3.3.4, line 26), whose upper bits are good. It is ready after
/// one step, where a Mersenne twister makes 312 words for the first number.
using Engine = std::linear_congruential_engine<uint64_t, 6364136223846793005U,
                                               1442695040888963407U, 0>;

/// Both halves of a seed, mixed: seeds that differ little draw differently.
Engine EngineOf(uint64_t seed) {
  std::seed_seq words{static_cast<uint32_t>(seed >> 32U),
                      static_cast<uint32_t>(seed)};
  return Engine(words);
}

/// The draws of one run of one node.
class Draws {
 public:
  explicit Draws(uint64_t seed) : engine_(EngineOf(seed)) {}

  /// Uniform in [0, 1): a multiple of 2^-digits, digits <= 53.
  double Uniform(int digits = 53) {
    const auto one = static_cast<double>(uint64_t{1} << digits);
    return static_cast<double>(engine_() >> (64 - digits)) / one;
  }

  /// Standard normal: Box and Muller, "A Note on the Generation of Random
  /// Normal Deviates", 1958; 1 - u is in (0, 1].
  double Normal() {
    const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
    return radius * std::cos(2 * std::numbers::pi * Uniform());
  }

 private:
  Engine engine_;
};

/// Digits of a float type's significand, so that a uniform number of as many
/// digits is not rounded up to 1.
int DigitsOf(DType type) {
  switch (type) {
    case DType::kFloat64:
      return 53;
    case DType::kFloat32:
      return 24;
    case DType::kFloat16:
      return 11;
    default:
      return 8;  // bfloat16
  }
}

/// The element type that attribute dtype names, or `otherwise`.
Result<DType> TypeOf(const std::optional<int64_t>& dtype, DType otherwise) {
  if (!dtype.has_value()) return otherwise;
  const auto type = DTypeFromOnnx(static_cast<int>(*dtype));
  if (!type.has_value()) return InvalidArgument("dtype is ", *dtype);
  return *type;
}

// Bernoulli-22: "an output of 1 is produced with probability p".
Status Bernoulli(const op::Bernoulli& op, DType type, KernelContext& run) {
  const Tensor& input = run.input(op.input);
  const Loaded<double> p(input);
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<double>(run, op.output, type, input.shape()));
  Draws draws(SeedOf(op.seed));
  for (int64_t i = 0; i < p.size(); ++i) {
    if (!(p[i] >= 0 && p[i] <= 1)) {
      return InvalidArgument("element ", i, " is ", p[i],
                             ", wanted a probability in [0, 1]");
    }
    y[i] = draws.Uniform() < p[i] ? 1 : 0;
  }
  return OkStatus();
}

/// In training, the ratio of what is dropped; 0 in inference, where ONNX
/// ignores the ratio.
Result<double> DropRatio(const op::Dropout& op, KernelContext& run) {
  const Tensor& training = run.input(op.training_mode);
  if (training.num_elements() != 1 || !training.elements<bool>()[0]) return 0.0;
  const Loaded<double> given(run.input(op.ratio));
  if (given.data() == nullptr) return 0.5;
  const double ratio = given.size() == 1 ? given[0] : -1;
  if (!(ratio >= 0 && ratio < 1)) {
    return InvalidArgument("ratio is ", ratio, " of ", given.size(),
                           " elements, wanted one in [0, 1)");
  }
  return ratio;
}

/// All of the mask; null when it is omitted.
Result<bool*> MaskOf(const op::Dropout& op, const Tensor& data,
                     KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(Tensor * mask,
                         run.Output(op.mask, DType::kBool, data.shape()));
  return mask == nullptr ? nullptr : mask->mutable_elements<bool>().data();
}

Status KeepAll(const op::Dropout& op, KernelContext& run) {
  const Tensor& data = run.input(op.data);
  ASSAY_ASSIGN_OR_RETURN(bool* mask, MaskOf(op, data, run));
  if (mask != nullptr) std::fill_n(mask, data.num_elements(), true);
  run.Save(assay::Value());
  return run.SetOutput(op.output, data);
}

// Dropout-22: "output = scale * data * mask, scale = 1. / (1. - ratio)", where
// an element is dropped with probability ratio. The factor of each element is
// saved for backward; an absent value, where all elements are kept.
template <class T>
Status Dropout(const op::Dropout& op, bool may_draw, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const double ratio, DropRatio(op, run));
  if (ratio == 0) return KeepAll(op, run);
  if (!may_draw) {
    return Unsupported(Reason::kValue, "a ratio of ", ratio,
                       " draws at random, which has no exact value");
  }
  const Tensor& data = run.input(op.data);
  const Loaded<T> x(data);
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<T>(run, op.output, data.dtype(), data.shape()));
  ASSAY_ASSIGN_OR_RETURN(bool* mask, MaskOf(op, data, run));
  const T scale = T(1) / (T(1) - static_cast<T>(ratio));
  Draws draws(SeedOf(op.seed));
  ASSAY_ASSIGN_OR_RETURN(Tensor * factors,
                         run.Workspace(kDTypeOf<T>, data.shape()));
  for (int64_t i = 0; i < x.size(); ++i) {
    const bool kept = draws.Uniform() >= ratio;
    const T factor = kept ? scale : T(0);
    y[i] = x[i] * factor;
    if (mask != nullptr) mask[i] = kept;
    if (factors != nullptr) factors->mutable_elements<T>()[size_t(i)] = factor;
  }
  return OkStatus();
}

template <class T>
Status DropoutBackward(const op::Dropout& op, GradientContext& run) {
  const Tensor* cotangent = run.cotangent(op.output);
  if (cotangent == nullptr || !run.wanted(op.data)) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(Tensor * gradient, run.GradientToWrite(op.data));
  const Loaded<T> dy(*cotangent);
  Stored<T> dx(gradient);
  const Tensor* factors = run.saved(0).tensor();
  for (int64_t i = 0; i < dx.size(); ++i) {
    const T factor =
        factors == nullptr ? T(1) : factors->elements<T>()[size_t(i)];
    dx[i] = dy[i] * factor;
  }
  return OkStatus();
}

/// Fills the output with what `draw` gives.
template <class Draw>
Status Fill(Output output, DType type, const Shape& shape, uint64_t seed,
            KernelContext& run, Draw draw) {
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<double>(run, output, type, shape));
  Draws draws(seed);
  for (int64_t i = 0; i < y.size(); ++i) y[i] = draw(draws);
  return OkStatus();
}

// RandomUniform-22: between low and high.
template <class Op>
Status Uniform(const Op& op, DType type, const Shape& shape,
               KernelContext& run) {
  const double low = op.low;
  const double width = static_cast<double>(op.high) - low;
  return Fill(op.output, type, shape, SeedOf(op.seed), run,
              [=, digits = DigitsOf(type)](Draws& draws) {
                return low + width * draws.Uniform(digits);
              });
}

// RandomNormal-22: scale is the standard deviation.
template <class Op>
Status Normal(const Op& op, DType type, const Shape& shape,
              KernelContext& run) {
  const double mean = op.mean;
  const double scale = op.scale;
  return Fill(op.output, type, shape, SeedOf(op.seed), run,
              [=](Draws& draws) { return mean + scale * draws.Normal(); });
}

/// Running sums of the probabilities, unnormalized, of one row of
/// log-probabilities.
std::vector<double> Cumulated(const double* logs, int64_t count) {
  std::vector<double> sums(logs, logs + count);
  const double top = *std::ranges::max_element(sums);
  double sum = 0;
  for (double& one : sums) one = sum += std::exp(one - top);
  return sums;
}

// Multinomial-22: of each row of "unnormalized log-probabilities", sample_size
// outcomes.
Status Multinomial(const op::Multinomial& op, DType type, KernelContext& run) {
  const Tensor& input = run.input(op.input);
  const Shape& shape = input.shape();
  if (shape.rank() != 2 || shape[1] < 1 || op.sample_size < 0) {
    return InvalidArgument("an input of shape ", shape.ToString(), " and ",
                           op.sample_size,
                           " samples, wanted [batch, classes] with a class and "
                           "no negative count");
  }
  const Loaded<double> logs(input);
  ASSAY_ASSIGN_OR_RETURN(
      auto y, Store<int64_t>(run, op.output, type, {shape[0], op.sample_size}));
  Draws draws(SeedOf(op.seed));
  for (int64_t row = 0; row < shape[0]; ++row) {
    const std::vector<double> sums =
        Cumulated(logs.data() + row * shape[1], shape[1]);
    if (!(sums.back() > 0) || std::isinf(sums.back())) {
      return InvalidArgument("row ", row, " has no probabilities");
    }
    for (int64_t i = 0; i < op.sample_size; ++i) {
      // The product may be rounded up to the sum, past the last class.
      const double at = draws.Uniform() * sums.back();
      const auto found = std::ranges::upper_bound(sums, at);
      y[row * op.sample_size + i] =
          std::min<int64_t>(found - sums.begin(), shape[1] - 1);
    }
  }
  return OkStatus();
}

bool IsDrawable(DType type) {
  return type == DType::kFloat64 || type == DType::kFloat32 ||
         type == DType::kFloat16 || type == DType::kBFloat16;
}

/// A drawn number has no exact value.
Status CheckDrawn(const LoadContext& load) {
  if (MayDraw(load.options())) return OkStatus();
  return Unsupported(Reason::kValue,
                     "random draws have no exact value to be asked for");
}

Result<Kernel> MakeBernoulli(const op::Bernoulli& op, LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(CheckDrawn(load));
  ASSAY_ASSIGN_OR_RETURN(const DType type,
                         TypeOf(op.dtype, load.dtype(op.input)));
  if (ScalarOf(type) == ScalarKind::kNone) {
    return Unsupported(Reason::kDType, "dtype is ", type,
                       ", wanted a type of numbers");
  }
  return Dispatch(load, op.input, kFloats, [&]<class>() {
    return std::bind_front(&Bernoulli, op, type);
  });
}

Result<Kernel> MakeDropout(const op::Dropout& op, LoadContext& load) {
  const bool may_draw = MayDraw(load.options());
  return Dispatch(load, op.data, kFloats, [&]<class T>() {
    return std::bind_front(&Dropout<T>, op, may_draw);
  });
}

// Like operators take what is not given from their input.
template <class Op, auto kDraw>
Result<Kernel> MakeFloats(const Op& op, LoadContext& load) {
  constexpr bool kHasShape = requires { op.shape; };
  ASSAY_RETURN_IF_ERROR(CheckDrawn(load));
  DType otherwise = DType::kFloat32;
  if constexpr (!kHasShape) otherwise = load.dtype(op.input);
  ASSAY_ASSIGN_OR_RETURN(const DType type, TypeOf(op.dtype, otherwise));
  if (!IsDrawable(type)) {
    return Unsupported(Reason::kDType, "dtype is ", type,
                       ", wanted bfloat16, float16, float32 or float64");
  }
  return Kernel{.forward = [op, type](KernelContext& run) {
    if constexpr (kHasShape) {
      return kDraw(op, type, Shape(op.shape), run);
    } else {
      return kDraw(op, type, run.input(op.input).shape(), run);
    }
  }};
}

Result<Kernel> MakeMultinomial(const op::Multinomial& op, LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(CheckDrawn(load));
  ASSAY_ASSIGN_OR_RETURN(const DType type, TypeOf(op.dtype, DType::kInt32));
  if (type != DType::kInt32 && type != DType::kInt64) {
    return Unsupported(Reason::kDType, "dtype is ", type,
                       ", wanted int32 or int64");
  }
  return Dispatch(load, op.input, kFloats, [&]<class>() {
    return std::bind_front(&Multinomial, op, type);
  });
}

}  // namespace

Family RandomFamily() {
  return FamilyOf(
      MakeBernoulli,
      WithBackward(RowOf(MakeDropout),
                   []<class T>() { return &DropoutBackward<T>; }),
      MakeMultinomial,
      MakeFloats<op::RandomUniform, Uniform<op::RandomUniform>>,
      MakeFloats<op::RandomUniformLike, Uniform<op::RandomUniformLike>>,
      MakeFloats<op::RandomNormal, Normal<op::RandomNormal>>,
      MakeFloats<op::RandomNormalLike, Normal<op::RandomNormalLike>>);
}

}  // namespace assay::reference
