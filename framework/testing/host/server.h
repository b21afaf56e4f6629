// SPDX-License-Identifier: Apache-2.0
//
// Server: the host's side. It answers the calls of a Link with a backend.
//
// Exceptions of the backend become statuses here, as at the boundary of a
// backend in the caller's process.

#pragma once

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/testing/host/mirror.h"
#include "framework/testing/host/wire/arena.h"
#include "framework/testing/host/wire/channel.h"
#include "framework/testing/host/wire/protocol.h"
#include "framework/testing/host/wire/wire.h"

namespace assay::host {

/// The report of a backend's process on itself after a case.
struct CaseEnd {
  std::string changed;       // of its state, and put back; empty: nothing
  uint64_t n_libraries = 0;  // that it has loaded so far
  bool replace = false;      // what is left behind could reach a later case
  int64_t peak_rss_kb = 0;   // so far
};

class Server {
 public:
  /// `end` is called in the thread of Serve. The backend must outlive this.
  Server(Backend& backend, std::function<CaseEnd()> end)
      : backend_(backend), end_(std::move(end)), owner_(getpid()) {}
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Answers until the channel is closed at the other side. In a child that the
  /// backend forked it returns instead of answering.
  void Serve(wire::Channel* channel);

 private:
  struct Served {
    std::unique_ptr<Network> network;
    std::string placed;  // as it was told
    std::shared_ptr<const Model> model;
    LoadOptions options;
  };
  struct Bound {
    std::unique_ptr<Binding> binding;
    std::vector<Value> given;
  };
  /// The network and the binding that a call names.
  struct Named {
    Served* served = nullptr;
    Bound* bound = nullptr;
    Network& network() const { return *served->network; }
    Binding& binding() const { return *bound->binding; }
  };
  struct BoundGradients {
    std::unique_ptr<GradientBinding> gradients;
    std::vector<Value> given;
  };

  void ReadHead(wire::Reader* in,
                const std::vector<wire::Descriptor>& descriptors);
  void Close(wire::Kind kind, uint64_t number);
  std::string Answer(wire::Call call, wire::Reader* in);
  Status Dispatch(wire::Call call, wire::Reader* in, wire::Writer* out);

  Status Inspect(wire::Reader* in, wire::Writer* out);
  Status Load(wire::Reader* in, wire::Writer* out);
  Status Bind(wire::Reader* in, wire::Writer* out) {
    return BindValues(in, out, false);
  }
  Status BindAndRun(wire::Reader* in, wire::Writer* out) {
    return BindValues(in, out, true);
  }
  Status BindValues(wire::Reader* in, wire::Writer* out, bool run);
  Status Forward(wire::Reader* in, wire::Writer* out);
  Status RunBound(const Named& named, const std::function<Status()>& run,
                  wire::Writer* out);
  Status ForwardMany(wire::Reader* in, wire::Writer* out);
  Status ForwardEach(wire::Reader* in, wire::Writer* out);
  Status TimeSamples(wire::Reader* in, wire::Writer* out);
  Status TimeAgain(wire::Reader* in, wire::Writer* out);
  Status Synchronize(wire::Reader* in, wire::Writer* out);
  Status Backward(wire::Reader* in, wire::Writer* out);
  Status BackwardEach(wire::Reader* in, wire::Writer* out);
  Status BindBackward(wire::Reader* in, wire::Writer* out);
  Status RunBackward(wire::Reader* in, wire::Writer* out);
  Status Step(wire::Reader* in, wire::Writer* out);
  Status EndCase(wire::Reader* in, wire::Writer* out);

  Result<Served*> Self(wire::Reader* in);
  Result<Named> NamedBy(wire::Reader* in);
  template <class T>
  Result<T*> Find(std::map<uint64_t, std::unique_ptr<T>>& all, uint64_t number,
                  const char* what);
  /// Runs, synchronizes, and writes what came of it.
  Status Run(Served* served, const std::function<Status()>& run,
             std::span<const Value> given,
             const std::function<std::span<const Value>()>& values,
             wire::Writer* out);
  /// Where nodes ran, when that is not what it was at the last call.
  static void PutPlaced(Served* served, wire::Writer* out);

  Backend& backend_;
  std::function<CaseEnd()> end_;
  pid_t owner_;
  ModelReader models_;
  std::mutex mutex_;  // of what follows
  wire::SharedSegments segments_;
  uint64_t segments_generation_ = 0;
  HeldTensors held_;
  std::map<uint64_t, std::unique_ptr<Served>> networks_;
  std::map<uint64_t, std::unique_ptr<Bound>> bindings_;
  std::map<uint64_t, std::unique_ptr<BoundGradients>> gradients_;
};

template <class T>
Result<T*> Server::Find(std::map<uint64_t, std::unique_ptr<T>>& all,
                        uint64_t number, const char* what) {
  const std::lock_guard lock(mutex_);
  const auto found = all.find(number);
  if (found == all.end()) {
    return FailedPrecondition("there is no ", what, " of the number ", number);
  }
  return found->second.get();
}

}  // namespace assay::host
