// SPDX-License-Identifier: Apache-2.0
//
// Backends for tests: one whose Load a test writes down, and those of modules.
//
//   StubBackend declines(Unsupported(Reason::kOperator, "no Relu"));
//   StubBackend wraps([](auto model, const LoadOptions& options) {
//     return BackendOfModule(file).Load(std::move(model), options);
//   });

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "framework/backend/backend.h"
#include "framework/backend/registry.h"

namespace assay {

/// The value of a result. Throws std::runtime_error where there is none.
template <class T>
T Got(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().ToString());
  return *std::move(result);
}

class StubBackend : public Backend {
 public:
  using Loads = std::function<Result<std::unique_ptr<Network>>(
      std::shared_ptr<const Model> model, const LoadOptions& options)>;

  explicit StubBackend(Loads loads, std::string name = "stub")
      : loads_(std::move(loads)), name_(std::move(name)) {}
  /// Loads nothing.
  explicit StubBackend(Status declines)
      : StubBackend([declines](auto, const auto&) { return declines; }) {}

  std::string_view name() const override { return name_; }
  Result<Probe> Inspect() override { return Probe{"1", "cpu"}; }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    return loads_(std::move(model), options);
  }

 private:
  Loads loads_;
  std::string name_;
};

/// The first backend of a module, which is never unloaded. Throws
/// std::runtime_error where there is none.
inline Backend& BackendOfModule(const std::string& file) {
  static std::map<std::string, std::unique_ptr<Backend>> backends;
  std::unique_ptr<Backend>& backend = backends[file];
  if (backend == nullptr) {
    backend = Got(MakeBackend(Got(LoadBackendModule(file)).front()));
  }
  return *backend;
}

#ifdef ASSAY_REFERENCE_MODULE
/// Of a test whose MODULES have the reference.
inline Backend& Reference() { return BackendOfModule(ASSAY_REFERENCE_MODULE); }
#endif

}  // namespace assay
