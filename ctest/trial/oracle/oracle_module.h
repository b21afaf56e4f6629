// SPDX-License-Identifier: Apache-2.0
//
// The oracle of a module, for tests of oracles.
//
//   const auto oracle = OracleOf("lib/assay/reference.so");

#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "framework/backend/backend.h"
#include "framework/backend/registry.h"

namespace assay::oracle {

/// The first backend of a module, which is never unloaded. Throws
/// std::runtime_error where there is none.
inline std::unique_ptr<Backend> OracleOf(const std::string& module) {
  const auto names = LoadBackendModule(module);
  auto made = names.ok() ? MakeBackend(names->at(0))
                         : Result<std::unique_ptr<Backend>>(names.status());
  if (!made.ok()) throw std::runtime_error(made.status().ToString());
  return *std::move(made);
}

}  // namespace assay::oracle
