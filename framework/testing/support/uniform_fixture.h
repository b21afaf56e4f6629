// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are the same with every standard library.
//
//   std::mt19937_64 engine(seed);
//   const double u = Uniform(engine);  // in [0, 1)

#pragma once

#include <cmath>
#include <random>

namespace assay {

inline double Uniform(std::mt19937_64& engine) {
  return std::ldexp(static_cast<double>(engine() >> 11U), -53);
}

}  // namespace assay
