// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optimizer/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::train {
namespace {

// Kills: a schedule that is a step early or late, and one that goes on behind
// its end.
TEST(ScheduleTest, IsAFunctionOfTheStep) {
  struct Row {
    const char* name;
    Schedule schedule;
    int64_t step;
    double want;
  };
  const Schedule steps = StepSchedule(0.1, {3, 5});
  const Schedule cosine = CosineSchedule(4, 0.2);
  const Schedule polynomial = PolynomialSchedule(4, 2);
  const Schedule warm = AfterWarmup(4, ExponentialSchedule(0.5));
  for (const Row& row : {
           Row{"constant", ConstantSchedule(), 1000, 1},
           Row{"steps", steps, 3, 1},
           Row{"steps", steps, 4, 0.1},
           Row{"steps", steps, 5, 0.1},
           Row{"steps", steps, 6, 0.1 * 0.1},
           Row{"exponential", ExponentialSchedule(0.5), 1, 1},
           Row{"exponential", ExponentialSchedule(0.5), 4, 0.125},
           Row{"cosine", cosine, 1, 1},
           Row{"cosine", cosine, 3, 0.6},
           Row{"cosine", cosine, 5, 0.2},
           Row{"cosine", cosine, 50, 0.2},
           Row{"polynomial", polynomial, 1, 1},
           Row{"polynomial", polynomial, 3, 0.25},
           Row{"polynomial", polynomial, 9, 0},
           Row{"warm", warm, 1, 0.25},
           Row{"warm", warm, 4, 1},
           Row{"warm", warm, 5, 1},
           Row{"warm", warm, 6, 0.5},
       }) {
    EXPECT_NEAR(row.schedule(row.step), row.want, 1e-15)
        << row.name << " at " << row.step;
  }
}

}  // namespace
}  // namespace assay::train
