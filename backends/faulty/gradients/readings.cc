// SPDX-License-Identifier: Apache-2.0
//
// Rules of what a backward reads, other cotangents and other inputs, and of
// memory, of chance and of which gradients are asked for.

#include <algorithm>

#include "backends/faulty/gradient_defect.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

/// The gradient for cotangents each of which is changed.
Result<Tensor> WithChanged(
    const RanBack& ran,
    const std::function<Result<Tensor>(const Tensor&)>& change) {
  Values changed = ran.cotangents;
  for (Value& value : changed) {
    if (value.present()) ASSAY_RETURN_IF_ERROR(ChangeTensor(value, change));
  }
  return ran.with(changed);
}

/// For cotangents each number of which is changed.
Result<Tensor> WithChangedNumbers(const RanBack& ran, const Change& change) {
  return WithChanged(ran,
                     [&](const Tensor& dy) { return WithNumbers(dy, change); });
}

Result<Tensor> OnesFor(const RanBack& ran) {
  return WithChangedNumbers(ran, [](int64_t, double) { return 1; });
}

Result<Tensor> LastCotangentDropped(const RanBack& ran) {
  return WithChanged(ran, [](const Tensor& dy) {
    const int64_t last = dy.num_elements() - 1;
    return WithNumbers(dy,
                       [=](int64_t i, double x) { return i == last ? 0 : x; });
  });
}

Result<Tensor> CotangentsInHalf(const RanBack& ran) {
  return WithChangedNumbers(
      ran, [](int64_t, double x) { return RoundedTo(kBFloat16Bits, x); });
}

Result<Tensor> MissingTakenForOnes(const RanBack& ran) {
  Values given = ran.cotangents;
  for (size_t i = 0; i < given.size(); ++i) {
    const Tensor* const y = ran.outputs[i].tensor();
    if (given[i].present() || y == nullptr || !IsFloatingPoint(y->dtype())) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(given[i],
                           WithNumbers(*y, [](int64_t, double) { return 1; }));
  }
  return ran.with(given);
}

/// True where element i of a tensor of `shape` belongs to the first slice along
/// every axis that `narrow` is broadcast along.
bool IsInFirstSlice(int64_t i, const Shape& shape, const Shape& narrow) {
  for (int axis = shape.rank(); axis-- > 0;) {
    const int64_t index = i % shape[axis];
    i /= shape[axis];
    const int lacking = shape.rank() - narrow.rank();
    const bool broadcast = axis < lacking || narrow[axis - lacking] == 1;
    if (broadcast && index != 0) return false;
  }
  return true;
}

// The sum over the axes of a broadcast is forgotten.
Result<Tensor> FirstSlice(const RanBack& ran) {
  return WithChanged(ran, [&](const Tensor& dy) -> Result<Tensor> {
    if (dy.shape().rank() < ran.right.shape().rank()) return dy;
    return WithNumbers(dy, [&](int64_t i, double x) {
      return IsInFirstSlice(i, dy.shape(), ran.right.shape()) ? x : 0;
    });
  });
}

// The mean in its place.
Result<Tensor> MeanOfSlices(const RanBack& ran) {
  const auto count =
      static_cast<double>(ran.outputs[0].tensor()->num_elements()) /
      static_cast<double>(ran.right.num_elements());
  return WithNumbers(ran.right, [=](int64_t, double x) { return x / count; });
}

/// The cotangent with zeros in all places but one.
Result<Tensor> OneHot(const Tensor& dy, int64_t place) {
  return WithNumbers(
      dy, [place](int64_t i, double x) { return i == place ? x : 0; });
}

// The gradient from the last of several uses of an element overwrites the
// others.
Result<Tensor> LastUse(const RanBack& ran) {
  std::vector<double> last(static_cast<size_t>(ran.right.num_elements()), 0);
  for (size_t k = 0; k < ran.cotangents.size(); ++k) {
    if (!ran.cotangents[k].present()) continue;
    const std::vector<double> dy = Numbers(*ran.cotangents[k].tensor());
    for (size_t j = 0; j < dy.size(); ++j) {
      if (dy[j] == 0) continue;
      Values one(ran.cotangents.size());
      ASSAY_ASSIGN_OR_RETURN(
          one[k], OneHot(*ran.cotangents[k].tensor(), static_cast<int64_t>(j)));
      ASSAY_ASSIGN_OR_RETURN(const Tensor part, ran.with(one));
      const std::vector<double> use = Numbers(part);
      for (size_t i = 0; i < use.size(); ++i) {
        if (use[i] != 0) last[i] = use[i];
      }
    }
  }
  return OfNumbers(ran.right.dtype(), ran.right.shape(), last);
}

// The gradient adds the shares of the elements of an output in its own type,
// and rounds each sum.
Result<Tensor> SumsRounded(const RanBack& ran) {
  const DType type = ran.right.dtype();
  const int bits = type == DType::kFloat16    ? kHalfBits
                   : type == DType::kBFloat16 ? kBFloat16Bits
                                              : 0;
  if (bits == 0) return ran.right;
  std::vector<double> sums(static_cast<size_t>(ran.right.num_elements()), 0);
  for (size_t k = 0; k < ran.cotangents.size(); ++k) {
    if (!ran.cotangents[k].present()) continue;
    const Tensor& dy = *ran.cotangents[k].tensor();
    for (int64_t j = 0; j < dy.num_elements(); ++j) {
      Values one(ran.cotangents.size());
      ASSAY_ASSIGN_OR_RETURN(one[k], OneHot(dy, j));
      ASSAY_ASSIGN_OR_RETURN(const Tensor part, ran.with(one));
      const std::vector<double> numbers = Numbers(part);
      for (size_t i = 0; i < sums.size(); ++i) {
        sums[i] = RoundedTo(bits, sums[i] + numbers[i]);
      }
    }
  }
  return OfNumbers(type, ran.right.shape(), sums);
}

// Another input of the same type and shape is read in its place, and it in
// that one's.
Result<Tensor> InputsSwapped(const RanBack& ran) {
  Values swapped = ran.inputs;
  const Tensor& own = *swapped[ran.target].tensor();
  for (size_t i = 0; i < swapped.size(); ++i) {
    const Tensor* const other = swapped[i].tensor();
    if (i == ran.target || other == nullptr || other->dtype() != own.dtype() ||
        other->shape() != own.shape()) {
      continue;
    }
    std::swap(swapped[i], swapped[ran.target]);
    return ran.at(swapped);
  }
  return ran.right;
}

// The values that the forward saved lie in the network, not in the binding.
Result<Tensor> OfLatest(const RanBack& ran) {
  return ran.latest.empty() ? ran.right : ran.at(ran.latest);
}

// A buffer that is one run late.
Result<Tensor> OfRunBefore(const RanBack& ran) {
  return ran.before.empty() ? ran.right : ran.at(ran.before);
}

// The first forward saves values, and no later one does.
Result<Tensor> OfFirstRun(const RanBack& ran) {
  return ran.first.empty() ? ran.right : ran.at(ran.first);
}

// Labels are prepared once.
Result<Tensor> LabelsOfFirstRun(const RanBack& ran) {
  Values inputs = ran.inputs;
  for (size_t i = 0; i < inputs.size() && i < ran.first.size(); ++i) {
    const Tensor* const tensor = inputs[i].tensor();
    if (tensor != nullptr && !IsFloatingPoint(tensor->dtype())) {
      inputs[i] = ran.first[i];
    }
  }
  return ran.at(inputs);
}

// The saved values are those of the time when gradients were bound.
Result<Tensor> BoundOfRunBefore(const RanBack& ran) {
  return ran.bound_run == 0 || ran.before.empty() ? ran.right
                                                  : ran.at(ran.before);
}

// The gradient from the last of several nodes that read the target overwrites
// the others.
Result<Tensor> LastReader(const RanBack& ran) {
  Values last(ran.cotangents.size());
  if (!last.empty()) last.back() = ran.cotangents.back();
  return last.size() > 1 ? ran.with(last) : ran.right;
}

int64_t WidthOf(const Tensor& tensor) { return BitsOf(tensor.dtype()) / 8; }

// Sums of a second run come in another order.
Result<Tensor> LastBit(const RanBack& ran) {
  if (ran.run % 2 != 0) return ran.right;
  ASSAY_ASSIGN_OR_RETURN(Tensor copy, ran.right.Clone());
  const int64_t middle = copy.num_elements() / 2;
  copy.mutable_data()[middle * WidthOf(copy)] ^= std::byte{1};
  return copy;
}

void InvertLast(Tensor tensor) {
  for (int64_t i = 1; i <= WidthOf(tensor); ++i) {
    std::byte& byte = tensor.mutable_data()[tensor.byte_size() - i];
    byte = ~byte;
  }
}

Result<Tensor> CotangentWritten(const RanBack& ran) {
  for (const Value& dy : ran.cotangents) {
    if (dy.present()) InvertLast(*dy.tensor());
  }
  return ran.right;
}

Result<Tensor> InputWritten(const RanBack& ran) {
  InvertLast(*ran.inputs[ran.target].tensor());
  return ran.right;
}

Result<Tensor> AloneZeros(const RanBack& ran) {
  if (!ran.alone) return ran.right;
  return Tensor::Allocate(ran.right.dtype(), ran.right.shape());
}

Result<Tensor> AloneDoubled(const RanBack& ran) {
  if (!ran.alone) return ran.right;
  return WithNumbers(ran.right, [](int64_t, double x) { return 2 * x; });
}

// The gradients of the runs before are added.
Result<Tensor> RunsAdded(const RanBack& ran) {
  const auto runs = static_cast<double>(ran.run);
  return WithNumbers(ran.right, [=](int64_t, double x) { return runs * x; });
}

// A bound run adds to what the one before it wrote.
Result<Tensor> BoundRunsAdded(const RanBack& ran) {
  const auto runs = static_cast<double>(std::max<int64_t>(ran.bound_run, 1));
  return WithNumbers(ran.right, [=](int64_t, double x) { return runs * x; });
}

}  // namespace

std::vector<GradientRule> ReadingGradientRules() {
  return {
      {"cotangents_taken_for_ones", "", OnesFor},
      {"cotangents_in_bfloat16", "", CotangentsInHalf},
      {"last_cotangent_dropped", "", LastCotangentDropped},
      {"missing_taken_for_ones", "", MissingTakenForOnes},
      {"first_slice", "", FirstSlice},
      {"mean_of_slices", "", MeanOfSlices},
      {"last_use", "", LastUse},
      {"sums_rounded", "", SumsRounded},
      {"inputs_swapped", "", InputsSwapped},
      {"stale_binding", "", OfLatest},
      {"stale_run", "", OfRunBefore},
      {"first_run", "", OfFirstRun},
      {"labels_of_first_run", "", LabelsOfFirstRun},
      {"bound_run_before", "", BoundOfRunBefore},
      {"last_reader", "", LastReader},
      {"last_bit", "", LastBit},
      {"cotangent_written", "", CotangentWritten},
      {"input_written", "", InputWritten},
      {"alone_zeros", "", AloneZeros},
      {"alone_doubled", "", AloneDoubled},
      {"runs_added", "", RunsAdded},
      {"bound_runs_added", "", BoundRunsAdded},
  };
}

}  // namespace assay::faulty
