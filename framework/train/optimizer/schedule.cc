// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optimizer/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace assay::train {
namespace {

/// How much of `steps` lies behind at the beginning of a step: 0 to 1.
double DoneOf(int64_t step, int64_t steps) {
  return std::min(1.0, static_cast<double>(step - 1) /
                           static_cast<double>(std::max<int64_t>(steps, 1)));
}

}  // namespace

Schedule ConstantSchedule() {
  return [](int64_t) { return 1.0; };
}

Schedule StepSchedule(double factor, std::vector<int64_t> after) {
  return [factor, after = std::move(after)](int64_t step) {
    const auto done = std::ranges::count_if(
        after, [step](int64_t last) { return last < step; });
    return std::pow(factor, static_cast<double>(done));
  };
}

Schedule ExponentialSchedule(double factor) {
  return [factor](int64_t step) {
    return std::pow(factor, static_cast<double>(step - 1));
  };
}

Schedule CosineSchedule(int64_t steps, double last) {
  return [steps, last](int64_t step) {
    const double turned = std::cos(std::numbers::pi * DoneOf(step, steps));
    return last + (1 - last) * (1 + turned) / 2;
  };
}

Schedule PolynomialSchedule(int64_t steps, double power) {
  return [steps, power](int64_t step) {
    return std::pow(1 - DoneOf(step, steps), power);
  };
}

Schedule AfterWarmup(int64_t steps, Schedule schedule) {
  return [steps, schedule = std::move(schedule)](int64_t step) {
    if (step > steps) return schedule(step - steps);
    return static_cast<double>(step) / static_cast<double>(steps);
  };
}

}  // namespace assay::train
