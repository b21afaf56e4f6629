// SPDX-License-Identifier: Apache-2.0
//
// ProbeOperator: an operator that a contract case puts into its models where
// any operator would do, since the promise is not about it.
//
//   ASSAY_ASSIGN_OR_RETURN(const ProbeOperator* probe,
//                          FindProbe(backend, names, {}));
//   // of a backend without Relu, where names are Relu and Abs: the one of Abs
//
// A probe maps each element alone, and exactly: what it gives is known without
// a tolerance, whatever the shape.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"

namespace assay::contract {

struct ProbeOperator {
  std::string_view op;
  bool twice = false;  // it has two inputs, and reads its value as both
  float (*value)(float x);
  float (*slope)(float x);

  /// "y = Add(x, x)".
  std::string Node(std::string_view output, std::string_view input) const;

  /// A model from x to y, both float32 of these extents.
  std::string Model(std::string_view extents = "[2]") const;

  /// A model from a and b to c and d, each pair through a node of its own.
  std::string TwoNodes(std::string_view extents = "[3]") const;

  /// A model from x to y = probe(h), where h = probe(x).
  std::string Chain() const;

  /// A model from x to y, beside z, the probe of an initializer w = {1, 2}.
  std::string WithInitializer() const;

  /// The same, beside u, the probe of an initializer v = {3, 4}.
  std::string WithInitializers() const;

  std::vector<float> Values(std::vector<float> x) const;

  /// The gradient by x where that by the probe's output is `dy`.
  std::vector<float> Gradient(std::vector<float> x,
                              const std::vector<float>& dy) const;
};

/// Those that show most first.
std::span<const ProbeOperator> Probes();

/// The names of all probes, `first` in front.
std::vector<std::string> ProbesFrom(std::string_view first);

/// The first of these operators whose model the backend loads. Unsupported,
/// with the reasons, where it declines all of them; any other failure to load
/// one is returned as it is.
Result<const ProbeOperator*> FindProbe(Backend& backend,
                                       std::span<const std::string> operators,
                                       const LoadOptions& options);

}  // namespace assay::contract
