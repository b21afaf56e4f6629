// SPDX-License-Identifier: Apache-2.0
//
// Channel: messages between two processes of a machine, each a text and the
// descriptors that come with it.
//
// Send and Receive are Cancelled when the other side is gone; nothing raises a
// signal. A short message is one packet, sent and received in one system call
// each.

#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/file/file.h"

namespace assay::wire {

using file::Descriptor;

struct Message {
  std::string text;
  pid_t sender = 0;  // its number here, where AskWhoSends was called
  std::vector<Descriptor> descriptors;
};

class Channel {
 public:
  /// Descriptors that one message may bring.
  static constexpr size_t kMostDescriptors = 250;

  Channel() = default;
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

  /// The two ends. Those of a child that is executed are not open in it.
  static Result<std::pair<Channel, Channel>> MakePair();

  bool open() const { return socket_.get() >= 0; }
  int descriptor() const { return socket_.get(); }
  void Close() { socket_ = Descriptor(); }

  /// From now on Receive ends when the process of this pidfd has ended, though
  /// another may hold the other end. The descriptor must outlive the channel.
  void Watch(int process);

  /// From now on the first message that comes names its sender, as the kernel
  /// knows it.
  Status AskWhoSends();

  /// The text is `head`, then `body`. Cancelled where the other process is
  /// gone, data loss where the kernel takes no more of it.
  Status Send(std::string_view head, std::string_view body = {},
              const std::vector<int>& descriptors = {});
  Result<Message> Receive();
  /// True when the other side has closed its end, without waiting.
  bool IsGone() const;

 private:
  bool ProcessEnded() const;

  Descriptor socket_;
  int process_ = -1;          // a pidfd
  std::vector<char> packet_;  // reused
};

}  // namespace assay::wire
