// SPDX-License-Identifier: Apache-2.0
//
// Link: the suite's side of the connection to a host. It asks one call after
// the other, from any thread. Each thread has a channel of its own, and the
// host a thread for each channel, so that a backend is called as in its
// caller's process.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/testing/host/wire/channel.h"
#include "framework/testing/host/wire/protocol.h"
#include "framework/testing/host/wire/wire.h"

namespace assay::host {

class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// From now on a new host answers. Networks of the one before are gone.
  /// `process` is its pidfd, -1 where it is to be known by its end of the
  /// channel alone.
  void Attach(wire::Channel channel,
              wire::Descriptor process = wire::Descriptor());
  /// Closes all channels: the host ends by itself.
  void Detach();

  /// The answer to a call. Internal when the host is gone.
  Result<std::string> Ask(wire::Call call, const wire::Writer& what);
  /// True when the host ended, or what it answered could not be read.
  bool is_gone() const { return gone_; }
  /// True when it closed its end since, without waiting.
  bool EndedMeanwhile() const;
  /// An answer that cannot be read: the host is not asked again.
  Status Refuse(const Status& fault);
  /// The call that was asked last.
  wire::Call last_call() const { return last_call_; }
  /// Why the host is not asked again; OK where it just ended.
  Status fault() const;

  /// A number of this host's, never given before.
  uint64_t NewNumber() { return ++number_; }
  void CloseLater(wire::Kind kind, uint64_t number);

  /// A tensor that the host gave from memory of its own, which it may use again
  /// once nobody here holds the tensor, and watches until then.
  void Issue(uint64_t number, const Tensor& tensor);
  /// The host's memory changed: so do the bytes of the tensor.
  void Rewrite(uint64_t number, std::string_view bytes);

  /// Another host has another.
  uint64_t generation() const { return generation_; }

 private:
  struct Line {
    wire::Channel channel;
    std::mutex sending;
    uint64_t told = 0;  // the generation of segments that it was told, and 1
    std::vector<uint32_t> segments;
  };
  struct Closed {
    wire::Kind kind;
    uint64_t number;
  };

  Result<Line*> LineOfThisThread();
  Result<Line*> NewLine();
  std::string Head(wire::Call call, Line* line, std::vector<int>* descriptors);
  Result<std::string> Exchange(Line* line, std::string_view head,
                               std::string_view what,
                               const std::vector<int>& descriptors);
  Status Gone();
  /// Why there is no asking any more; the first reason stays.
  Status Break(Status why);
  /// Why a request was not sent.
  Status NotSent(const Status& fault);

  mutable std::mutex mutex_;
  wire::Descriptor process_;
  std::map<std::thread::id, std::unique_ptr<Line>> lines_;
  std::thread::id first_;
  std::vector<Closed> closed_;
  std::map<uint64_t, Tensor> issued_;
  Status fault_;
  std::atomic<bool> gone_ = true;
  std::atomic<wire::Call> last_call_ = wire::Call::kInspect;
  std::atomic<uint64_t> number_ = 0;
  std::atomic<uint64_t> generation_ = 0;
};

/// A number at a host, closed there when this ends.
class Numbered {
 public:
  Numbered(Link& link, wire::Kind kind, uint64_t number)
      : link_(link),
        kind_(kind),
        number_(number),
        generation_(link.generation()) {}
  Numbered(const Numbered&) = delete;
  Numbered& operator=(const Numbered&) = delete;
  ~Numbered() {
    if (generation_ == link_.generation()) link_.CloseLater(kind_, number_);
  }

  /// Zero, which no host knows, where the one that gave it is gone.
  uint64_t get() const {
    return generation_ == link_.generation() ? number_ : 0;
  }

 private:
  Link& link_;
  wire::Kind kind_;
  uint64_t number_;
  uint64_t generation_;
};

/// The answer to a call, whose own status was OK.
class Answer {
 public:
  static Result<Answer> To(Link& link, wire::Call call,
                           const wire::Writer& what);

  wire::Reader& in() { return *in_; }
  /// Everything was read, and could be.
  Status End();

 private:
  Answer(Link& link, std::string bytes)
      : link_(&link),
        bytes_(std::make_unique<std::string>(std::move(bytes))),
        in_(std::make_unique<wire::Reader>(*bytes_)) {}

  Link* link_;
  std::unique_ptr<std::string> bytes_;
  std::unique_ptr<wire::Reader> in_;
};

}  // namespace assay::host
