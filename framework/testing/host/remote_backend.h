// SPDX-License-Identifier: Apache-2.0
//
// RemoteBackend: a backend whose code runs in another process, its host. It
// forwards every interface, so that a suite cannot tell it from a backend in
// its own process. A change that the code makes to its process changes the host
// alone.
//
//   wire::Arena::Open();
//   Link link;
//   link.Attach(std::move(channel));     // of a process that runs a Server
//   RemoteBackend backend("acme", link);
//   auto network = backend.Load(model, options);
//
// The host gets a model's bytes and the values of a call, and no path. Forward
// and Synchronize are one call to the host; the answer of Synchronize is kept
// until it is called. When the host ends, each call fails (Link::is_gone).
//
// Exact, the interface of an oracle, is not forwarded: networks that offer it
// say so, and asking them is a failed precondition.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "framework/backend/backend.h"
#include "framework/testing/host/link.h"

namespace assay::host {

class RemoteBackend : public Backend {
 public:
  /// The link must outlive the backend and all that it loads.
  RemoteBackend(std::string name, Link& link)
      : name_(std::move(name)), link_(link) {}

  std::string_view name() const override { return name_; }
  Result<Probe> Inspect() override { return InspectAs({}); }
  Result<Probe> InspectAs(const Settings& settings) override;
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override;

 private:
  std::string name_;
  Link& link_;
};

}  // namespace assay::host
