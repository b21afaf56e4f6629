// SPDX-License-Identifier: Apache-2.0
//
// HostedBackend: a backend behind a server in a thread of this process, for
// tests of what crosses.

#pragma once

#include <string>
#include <thread>
#include <utility>

#include "framework/backend/backend.h"
#include "framework/testing/host/link.h"
#include "framework/testing/host/remote_backend.h"
#include "framework/testing/host/server.h"
#include "framework/testing/host/wire/arena.h"
#include "framework/testing/host/wire/channel.h"

namespace assay::host {

class HostedBackend {
 public:
  /// The backend must outlive this.
  explicit HostedBackend(Backend& backend)
      : server_(backend, nullptr), remote_(std::string(backend.name()), link_) {
    wire::Arena::Open();
    auto ends = wire::Channel::MakePair();
    thread_ = std::thread([this, channel = std::move(ends->second)]() mutable {
      server_.Serve(&channel);
    });
    link_.Attach(std::move(ends->first));
  }
  HostedBackend(const HostedBackend&) = delete;
  HostedBackend& operator=(const HostedBackend&) = delete;
  ~HostedBackend() {
    link_.Detach();
    thread_.join();
  }

  Backend& backend() { return remote_; }

 private:
  Server server_;
  Link link_;
  RemoteBackend remote_;
  std::thread thread_;
};

}  // namespace assay::host
