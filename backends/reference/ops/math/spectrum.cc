// SPDX-License-Identifier: Apache-2.0
//
// Signals in time and frequency: STFT, MelWeightMatrix and the windows of
// Blackman, Hamming and Hann.

#include <cmath>
#include <functional>
#include <optional>

#include "backends/reference/families.h"
#include "backends/reference/ops/math/fourier.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"
#include "backends/reference/typed_rows.h"
#include "framework/backend/backend.h"

namespace assay::reference {
namespace {

/// The element type that output_datatype names.
Result<DType> OutputType(int64_t output_datatype) {
  const auto type = DTypeFromOnnx(static_cast<int>(output_datatype));
  if (!type.has_value() || ScalarOf(*type) == ScalarKind::kNone) {
    return Unsupported(Reason::kDType, "output_datatype is ", output_datatype,
                       ", wanted a type of numbers");
  }
  return *type;
}

/// The one element of an input that is a scalar; nothing when it is omitted.
Result<std::optional<int64_t>> ScalarInput(const KernelContext& run,
                                           Input input, const char* name) {
  const Scratch<int64_t> values = IntegersOf(run.input(input));
  if (!run.input(input).defined()) return std::optional<int64_t>();
  if (values.size() == 1) return std::optional<int64_t>(values[0]);
  return InvalidArgument(name, " has ", values.size(),
                         " elements, wanted a scalar");
}

struct FramePlan {
  // ONNX page of STFT-17: frames = floor((signal_length - frame_length) /
  // frame_step) + 1; bins are frame_length / 2 + 1 with onesided 1.
  static Result<FramePlan> Of(const op::STFT& op, const KernelContext& run) {
    const Shape& signal = run.input(op.signal).shape();
    const Shape& window = run.input(op.window).shape();
    if (signal.rank() != 3 || (signal[2] != 1 && signal[2] != 2)) {
      return InvalidArgument("a signal of shape ", signal.ToString(),
                             ", wanted [batch, length, 1 or 2]");
    }
    if (op.onesided != 0 && signal[2] == 2) {
      return InvalidArgument("onesided is ", op.onesided,
                             " and the signal is complex, wanted a real one");
    }
    FramePlan plan{
        .batches = signal[0], .samples = signal[1], .parts = signal[2]};
    ASSAY_ASSIGN_OR_RETURN(const std::optional<int64_t> step,
                           ScalarInput(run, op.frame_step, "frame_step"));
    ASSAY_ASSIGN_OR_RETURN(const std::optional<int64_t> length,
                           ScalarInput(run, op.frame_length, "frame_length"));
    const bool windowed = run.input(op.window).defined();
    plan.step = step.value_or(0);
    plan.length = length.value_or(
        windowed && window.rank() == 1 ? window[0] : plan.samples);
    if (windowed && (window.rank() != 1 || window[0] != plan.length)) {
      return InvalidArgument("a window of shape ", window.ToString(),
                             ", wanted [", plan.length, "]");
    }
    if (plan.step < 1 || plan.length < 1 || plan.length > plan.samples) {
      return InvalidArgument("frame_step is ", plan.step, ", frame_length ",
                             plan.length, ", and the signal has ", plan.samples,
                             " samples");
    }
    plan.frames = (plan.samples - plan.length) / plan.step + 1;
    plan.bins = op.onesided != 0 ? plan.length / 2 + 1 : plan.length;
    return plan;
  }

  Shape y_shape() const { return {batches, frames, bins, 2}; }

  int64_t batches = 0;
  int64_t samples = 0;  // of the signal
  int64_t parts = 1;
  int64_t step = 0;
  int64_t length = 0;  // of a frame
  int64_t frames = 0;
  int64_t bins = 0;
};

// ONNX page of STFT-17: the DFT of each frame times the window.
template <class T>
Status Stft(const op::STFT& op, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, FramePlan::Of(op, run));
  const Tensor& signal = run.input(op.signal);
  const Loaded<T> x(signal);
  const Loaded<T> window(run.input(op.window));
  ASSAY_ASSIGN_OR_RETURN(
      auto y, Store<T>(run, op.output, signal.dtype(), plan.y_shape()));
  const Rotations<T> rotations(plan.length);
  Scratch<T> frame(static_cast<size_t>(plan.length * plan.parts));
  for (int64_t i = 0; i < plan.batches * plan.frames; ++i) {
    const int64_t first =
        i / plan.frames * plan.samples + i % plan.frames * plan.step;
    for (int64_t k = 0; k < std::ssize(frame); ++k) {
      const T value = x[first * plan.parts + k];
      frame[static_cast<size_t>(k)] =
          window.data() == nullptr ? value : value * window[k / plan.parts];
    }
    rotations.Transform(frame.data(), {plan.length, plan.parts, plan.parts},
                        y.data() + i * plan.bins * 2, {plan.bins, 2, 2}, false);
  }
  return OkStatus();
}

// The pages of the three windows name one paper and no formula; ONNX's function
// bodies have a - b cos(2 pi n / N) + c cos(4 pi n / N), N being size, or
// size - 1 for a symmetric window. With s the sine of pi n / N:

// 0.5 - 0.5 cos = s^2.
struct Hann {
  template <class T>
  static T At(T s) {
    return s * s;
  }
};

// 25/46 - 21/46 cos = (2 + 21 s^2) / 23.
struct Hamming {
  template <class T>
  static T At(T s) {
    return (T(2) + T(21) * s * s) / T(23);
  }
};

// 0.42 - 0.5 cos + 0.08 cos(twice) = s^2 (9 + 16 s^2) / 25, without the
// cancellation at the ends.
struct Blackman {
  template <class T>
  static T At(T s) {
    return s * s * (T(9) + T(16) * s * s) / T(25);
  }
};

template <class T, class Rule, class Op>
Status WindowOf(const Op& op, DType type, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const std::optional<int64_t> size,
                         ScalarInput(run, op.size, "size"));
  if (!size.has_value() || *size < 0) {
    return InvalidArgument("size is ", size.value_or(-1));
  }
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, op.output, type, {*size}));
  const int64_t period = op.periodic != 0 ? *size : *size - 1;
  const T half_turn = T(4) * atan(T(1));
  for (int64_t n = 0; n < *size; ++n) {
    // From the nearer end, so that both halves are the same numbers. A
    // symmetric window of size 1 is 0 / 0, as in ONNX's function body.
    const T share =
        static_cast<T>(std::min(n, period - n)) / static_cast<T>(period);
    y[n] = Rule::At(sin(half_turn * share));
  }
  return OkStatus();
}

constexpr double kMostBins = 1e15;

// Frequencies of `count` points, equal distances apart on the mel scale, as
// positions in a spectrogram. ONNX page of MelWeightMatrix-17:
// mel(f) = 2595 log10(1 + f / 700). Where it is silent, as in ONNX's reference
// implementation: points are (high - low) / (num_mel_bins + 2) apart, and
// positions floor((dft_length + 1) f / sample_rate).
template <class T>
Scratch<int64_t> MelPositions(T lower, T upper, int64_t count,
                              int64_t dft_length, int64_t sample_rate) {
  const T ten = log(T(10));
  const auto mel = [&](T hertz) {
    return T(2595) * log1p(hertz / T(700)) / ten;
  };
  const T low = mel(lower);
  const T step = (mel(upper) - low) / static_cast<T>(count);
  Scratch<int64_t> positions;
  for (int64_t i = 0; i < count; ++i) {
    const T at = low + step * static_cast<T>(i);
    const T hertz = T(700) * expm1(at / T(2595) * ten);
    const T position =
        static_cast<T>(dft_length + 1) * hertz / static_cast<T>(sample_rate);
    const double low = std::floor(Value(position));
    NoteBetween(T(low), position, T(low + 1));
    positions.push_back(static_cast<int64_t>(std::min(low, kMostBins)));
  }
  return positions;
}

template <class T>
struct MelPlan {
  static Result<MelPlan> Of(const op::MelWeightMatrix& op,
                            const KernelContext& run) {
    MelPlan plan;
    for (const auto& [input, name, to] :
         {std::tuple(op.num_mel_bins, "num_mel_bins", &plan.bands),
          std::tuple(op.dft_length, "dft_length", &plan.dft_length),
          std::tuple(op.sample_rate, "sample_rate", &plan.sample_rate)}) {
      ASSAY_ASSIGN_OR_RETURN(const std::optional<int64_t> value,
                             ScalarInput(run, input, name));
      *to = value.value_or(0);
      if (*to < 1)
        return InvalidArgument(name, " is ", *to, ", wanted 1 or more");
    }
    const Loaded<T> lower(run.input(op.lower_edge_hertz));
    const Loaded<T> upper(run.input(op.upper_edge_hertz));
    if (lower.size() != 1 || upper.size() != 1) {
      return InvalidArgument("lower_edge_hertz has ", lower.size(),
                             " and upper_edge_hertz ", upper.size(),
                             " elements, wanted scalars");
    }
    plan.lower = lower[0];
    plan.upper = upper[0];
    const auto from = static_cast<double>(Value(plan.lower));
    const auto to = static_cast<double>(Value(plan.upper));
    if (!(from >= 0 && from <= to && std::isfinite(to))) {
      return InvalidArgument("the edges are ", from, " and ", to, " hertz");
    }
    return plan;
  }

  int64_t bands = 0;
  int64_t dft_length = 0;
  int64_t sample_rate = 0;
  T lower{};  // hertz
  T upper{};
};

// ONNX page of MelWeightMatrix-17: each column is a triangle whose peak is 1.
template <class T>
Status MelWeightMatrix(const op::MelWeightMatrix& op, DType type,
                       KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, MelPlan<T>::Of(op, run));
  const int64_t bins = plan.dft_length / 2 + 1;
  ASSAY_ASSIGN_OR_RETURN(auto y,
                         Store<T>(run, op.output, type, {bins, plan.bands}));
  std::fill_n(y.data(), y.size(), T(0));
  const Scratch<int64_t> at =
      MelPositions(plan.lower, plan.upper, plan.bands + 2, plan.dft_length,
                   plan.sample_rate);
  if (at.back() > bins || at[at.size() - 2] >= bins) {
    return InvalidArgument("the bands end at bin ", at.back(),
                           " of a spectrogram of ", bins, " bins");
  }
  for (int64_t band = 0; band < plan.bands; ++band) {
    const int64_t* const points = at.data() + band;  // left, peak, right
    const auto column = [&](int64_t i) -> T& {
      return y[i * plan.bands + band];
    };
    for (int64_t i = points[0]; i < points[1]; ++i) {
      column(i) =
          static_cast<T>(i - points[0]) / static_cast<T>(points[1] - points[0]);
    }
    column(points[1]) = T(1);
    for (int64_t i = points[1]; i < points[2]; ++i) {
      column(i) =
          static_cast<T>(points[2] - i) / static_cast<T>(points[2] - points[1]);
    }
  }
  return OkStatus();
}

// Integer inputs, and frequencies that only choose, are computed in the scalar
// of the wanted type, at least double.
template <class Make>
Result<Kernel> DispatchOutput(const LoadContext& load, int64_t output_datatype,
                              Make&& make) {
  ASSAY_ASSIGN_OR_RETURN(const DType type, OutputType(output_datatype));
  if (load.options().exact && IsFloatingPoint(type)) {
    return KernelFrom(make.template operator()<Var>(type));
  }
  return KernelFrom(make.template operator()<double>(type));
}

template <class Rule, class Op>
Result<Kernel> MakeWindow(const Op& op, LoadContext& load) {
  return DispatchOutput(load, op.output_datatype, [&]<class T>(DType type) {
    return std::bind_front(&WindowOf<T, Rule, Op>, op, type);
  });
}

Result<Kernel> MakeMelWeightMatrix(const op::MelWeightMatrix& op,
                                   LoadContext& load) {
  return DispatchOutput(load, op.output_datatype, [&]<class T>(DType type) {
    return std::bind_front(&MelWeightMatrix<T>, op, type);
  });
}

}  // namespace

Family SpectrumFamily() {
  return FamilyOf(Typed(kFloats, []<class T>() { return &Stft<Wide<T>>; }),
                  MakeMelWeightMatrix, MakeWindow<Hann, op::HannWindow>,
                  MakeWindow<Hamming, op::HammingWindow>,
                  MakeWindow<Blackman, op::BlackmanWindow>);
}

}  // namespace assay::reference
