// SPDX-License-Identifier: Apache-2.0
//
// Backends for tests: one whose Load a test writes down, and those of modules.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "framework/backend/backend.h"
#include "framework/backend/registry.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay {

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
/// The reference backend, for a test whose MODULES have it.
inline Backend& Reference() { return BackendOfModule(ASSAY_REFERENCE_MODULE); }
#endif

}  // namespace assay
