// SPDX-License-Identifier: Apache-2.0
//
// Schedule: the factor of the rate at a step, a pure function of the step, so
// that a run which is resumed has the schedule of one that was not.
//
//   const Schedule warm = AfterWarmup(500, CosineSchedule(10000));
//   const double rate = 0.1 * warm(step);   // the first step is 1

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace assay::train {

/// Steps count from 1.
using Schedule = std::function<double(int64_t step)>;

Schedule ConstantSchedule();

/// `factor` to the power of how many of the steps were done before: it is taken
/// at the first step behind each.
Schedule StepSchedule(double factor, std::vector<int64_t> after);

/// factor^(step - 1).
Schedule ExponentialSchedule(double factor);

/// From 1 at the first step to `last` behind `steps` steps, along half a cosine
/// (I. Loshchilov, F. Hutter, "SGDR", 2017, equation 5, without restarts).
Schedule CosineSchedule(int64_t steps, double last = 0);

/// (1 - (step - 1) / steps)^power, 0 behind them.
Schedule PolynomialSchedule(int64_t steps, double power);

/// step / steps for the first of them, then `schedule` from its first step on
/// (P. Goyal et al., "Accurate, large minibatch SGD", 2017, section 2.2).
Schedule AfterWarmup(int64_t steps, Schedule schedule);

}  // namespace assay::train
