// SPDX-License-Identifier: Apache-2.0
//
// Networks in short, for tests: loaded, bound and run. A failure is thrown.
//
//   const auto network = LoadedBy(toy, "g (float[2] x) => ...");
//   const auto binding = BoundTo(*network, {Floats({1, 2})});
//   EXPECT_THAT(Forward(*network, *binding), ElementsAre(1, 2));

#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::toy {

inline std::unique_ptr<Network> LoadedBy(Backend& backend,
                                         const std::string& text,
                                         const LoadOptions& options = {}) {
  return Got(backend.Load(graph::ModelOfText(text), options));
}

inline std::unique_ptr<Binding> BoundTo(
    Network& network, const std::vector<Value>& inputs,
    const std::vector<Value>& outputs = {}) {
  return Got(network.Bind(inputs, outputs));
}

/// The first output after a run.
inline std::vector<float> Forward(Network& network, Binding& binding) {
  const Status status = network.Forward(binding);
  if (!status.ok()) throw std::runtime_error(status.ToString());
  return FloatsOf(binding.outputs()[0]);
}

}  // namespace assay::toy
