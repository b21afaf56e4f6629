// SPDX-License-Identifier: Apache-2.0
//
// Two small backends for tests, as unlike as they can be: Toy is eager, Opaque
// takes a whole model and looks at its bytes only.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/backend/eager/eager.h"

namespace assay::toy {

/// Relu, MatMul (rank 2) and Add (equal shapes) with gradients, in float32 and
/// float64; Identity, Constant, Floor, Gather (of one axis), If and Loop
/// without; and of domain test:
///   Throw(x), ThrowText(x), Exhaust(x)  throw from forward
///   ThrowAtLoad(x)  throws from Visit
///   ThrowBack(x)    throws from backward
///   Silent(x)       writes no output
///   Refuse(x)       returns an error
///   Twice(x)        2x, and its backward reads what forward saved
///   Keep(a, b)      a + b in float32, by pointers that it keeps between runs,
///                   and how many runs have asked for them
class Toy : public EagerBackend {
 public:
  Toy();
  std::string_view name() const override { return "toy"; }
  Result<Probe> Inspect() override { return Probe{"1.0", "cpu"}; }

 protected:
  std::vector<std::string> Settings() const override { return {"threads"}; }
};

/// Fills each declared output, of static shape and float32, with a number made
/// of the model's bytes and of the sum of the inputs.
class Opaque : public Backend {
 public:
  std::string_view name() const override { return "opaque"; }
  Result<Probe> Inspect() override { return Probe{"1.0", "cpu"}; }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override;
};

}  // namespace assay::toy
