// SPDX-License-Identifier: Apache-2.0

#include "perf/peers/methods.h"

namespace assay::gradcheck::peers {

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
