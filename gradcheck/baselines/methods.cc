// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/baselines/methods.h"

namespace assay::gradcheck::baselines {

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

}  // namespace assay::gradcheck::baselines
