// SPDX-License-Identifier: Apache-2.0
//
// Server: the host's side. It answers the calls of a Link with a backend.
//
//   Server server(backend, [] { return CaseEnd(); });
//   server.Serve(&channel);     // until the other side is gone
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
#include "framework/testing/host/arena.h"
#include "framework/testing/host/case_end.h"
#include "framework/testing/host/channel.h"
#include "framework/testing/host/protocol.h"
#include "framework/testing/host/wire.h"

namespace assay::host {

class Server {
 public:
  /// `end` is called in the thread of Serve. The backend must outlive this.
  Server(Backend& backend, std::function<CaseEnd()> end)
      : backend_(backend), end_(std::move(end)), owner_(getpid()) {}
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Answers until the channel is closed at the other side. In a child that the
  /// backend forked it returns instead of answering.
  void Serve(Channel* channel);

 private:
  /// A tensor in memory of the backend's that the other side may still hold, and
  /// what it was when it was last told.
  struct Held {
    Tensor tensor;
    size_t hash = 0;
  };
  struct Served {
    std::unique_ptr<Network> network;
    std::string placed;  // as it was told
  };
  struct Bound {
    std::unique_ptr<Binding> binding;
    std::vector<Value> given;
  };
  struct BoundGradients {
    std::unique_ptr<GradientBinding> gradients;
    std::vector<Value> given;
  };

  void ReadHead(Reader* in, std::vector<Descriptor> descriptors);
  void Close(Kind kind, uint64_t number);
  std::string Answer(Call call, Reader* in);
  Status Dispatch(Call call, Reader* in, Writer* out);

  Status Inspect(Writer* out);
  Status Load(Reader* in, Writer* out);
  Status Bind(Call call, Reader* in, Writer* out);
  Status Forward(Reader* in, Writer* out);
  Status RunBound(Served* served, Bound* bound, Writer* out);
  Status ForwardMany(Reader* in, Writer* out);
  Status Synchronize(Reader* in);
  Status Backward(Reader* in, Writer* out);
  Status BindBackward(Reader* in, Writer* out);
  Status RunBackward(Reader* in, Writer* out);
  Status OfParameters(Call call, Reader* in, Writer* out);
  Status OfNativeStep(Call call, Reader* in, Writer* out);
  Status Step(Reader* in, Writer* out);
  Status EndCase(Writer* out);

  /// The model of bytes: the last one where it is of the same.
  std::shared_ptr<const Model> Loaded(std::span<const std::byte> bytes,
                                      bool checked);
  Result<Served*> Self(Reader* in);
  template <class T>
  Result<T*> Find(std::map<uint64_t, std::unique_ptr<T>>& all, uint64_t number,
                  const char* what);
  /// Runs, synchronizes, and writes what came of it.
  Status Run(Served* served, const std::function<Status()>& run,
             std::span<const Value> given,
             const std::function<std::span<const Value>()>& values,
             Writer* out);
  /// What changed of the tensors that are held.
  void PutChanged(Writer* out);
  /// Where nodes ran, when that is not what it was at the last call.
  static void PutPlaced(Served* served, Writer* out);
  /// One value that came of a run.
  void PutResult(const Value& value, bool in_place, Writer* out);

  Backend& backend_;
  std::function<CaseEnd()> end_;
  pid_t owner_;
  std::mutex mutex_;                   // of what follows
  std::shared_ptr<const Model> last_;  // a case loads its model several times
  SharedSegments segments_;
  uint64_t segments_generation_ = 0;
  std::map<uint64_t, Held> held_;
  uint64_t next_issued_ = 0;
  std::map<uint64_t, std::unique_ptr<Served>> networks_;
  std::map<uint64_t, std::unique_ptr<Bound>> bindings_;
  std::map<uint64_t, std::unique_ptr<BoundGradients>> gradients_;
};

}  // namespace assay::host
