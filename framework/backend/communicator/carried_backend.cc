// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/communicator/carried_backend.h"

#include <string_view>
#include <utility>

namespace assay::communicator {
namespace {

class Carried final : public Backend {
 public:
  Carried(std::unique_ptr<Backend> backend, std::unique_ptr<Backend> library)
      : backend_(std::move(backend)), library_(std::move(library)) {}

  std::string_view name() const override { return backend_->name(); }
  Result<Probe> Inspect() override { return backend_->Inspect(); }
  Result<Probe> InspectAs(const Settings& settings) override {
    return backend_->InspectAs(settings);
  }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    return backend_->Load(std::move(model), options);
  }
  Result<Ranks*> ranks(const Settings&) override { return library_->ranks({}); }

 private:
  std::unique_ptr<Backend> backend_, library_;
};

}  // namespace

Result<std::unique_ptr<Backend>> CarriedBy(std::unique_ptr<Backend> backend,
                                           std::unique_ptr<Backend> library) {
  ASSAY_ASSIGN_OR_RETURN(const Ranks* const ranks, library->ranks({}));
  if (ranks == nullptr) {
    return FailedPrecondition(library->name(),
                              " carries no messages between ranks");
  }
  return std::unique_ptr<Backend>(
      std::make_unique<Carried>(std::move(backend), std::move(library)));
}

}  // namespace assay::communicator
