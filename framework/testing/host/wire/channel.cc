// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/wire/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>

namespace assay::wire {
namespace {

constexpr uint64_t kMostText = uint64_t{4} << 30;
constexpr size_t kPacket = size_t{1} << 16;  // bytes of text in one

struct Header {
  uint64_t size = 0;  // of the text
  uint64_t n_descriptors = 0;
};

Status Gone() { return Cancelled("the other process is gone"); }

/// Sends a packet of these parts, with or without descriptors. Cancelled where
/// the other end is closed, data loss where the kernel does not take it.
Status SendPacket(int fd, std::span<iovec> parts, std::span<char> control) {
  msghdr message = {};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  if (!control.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(fd, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) return OkStatus();
  if (errno == EPIPE || errno == ECONNRESET) return Gone();
  return DataLoss("cannot send: ", std::strerror(errno));
}

using Control =
    std::array<char, CMSG_SPACE(sizeof(int) * Channel::kMostDescriptors) +
                         CMSG_SPACE(sizeof(ucred))>;

void TakeControl(msghdr* message, Message* into) {
  for (cmsghdr* part = CMSG_FIRSTHDR(message); part != nullptr;
       part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_CREDENTIALS) {
      ucred sender = {};
      std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
      into->sender = sender.pid;
    }
    if (part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      into->descriptors.emplace_back(fd);
    }
  }
}

}  // namespace

Result<std::pair<Channel, Channel>> Channel::MakePair() {
  std::array<int, 2> ends = {};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return ResourceExhausted("cannot make a socket: ", std::strerror(errno));
  }
  return std::pair(Channel(Descriptor(ends[0])), Channel(Descriptor(ends[1])));
}

void Channel::Watch(int process) {
  process_ = process;
  // How often to look; a message that comes is not held up.
  const timeval often = {0, 20'000};
  setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &often, sizeof often);
}

bool Channel::ProcessEnded() const {
  pollfd process = {process_, POLLIN, 0};
  return process_ >= 0 && poll(&process, 1, 0) == 1;
}

Status Channel::AskWhoSends() {
  const int on = 1;
  if (setsockopt(socket_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0) {
    return OkStatus();
  }
  return Internal("cannot ask who sends: ", std::strerror(errno));
}

Status Channel::Send(std::string_view head, std::string_view body,
                     const std::vector<int>& descriptors) {
  if (descriptors.size() > kMostDescriptors) {
    return Internal("found ", descriptors.size(), " descriptors, wanted ",
                    kMostDescriptors, " at most");
  }
  Header header{head.size() + body.size(), descriptors.size()};
  // The next part of the text for a packet that has room for that much.
  const auto take = [](std::string_view* from, size_t room) {
    const std::string_view part = from->substr(0, room);
    from->remove_prefix(part.size());
    return iovec{const_cast<char*>(part.data()), part.size()};
  };
  std::array<iovec, 3> parts = {iovec{&header, sizeof header}};
  const auto fill = [&] {
    parts[1] = take(&head, kPacket);
    parts[2] = take(&body, kPacket - parts[1].iov_len);
  };
  fill();
  alignas(cmsghdr) Control control = {};
  size_t control_size = 0;
  if (!descriptors.empty()) {
    const size_t size = sizeof(int) * descriptors.size();
    auto* const part = reinterpret_cast<cmsghdr*>(control.data());
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(part), descriptors.data(), size);
    control_size = CMSG_SPACE(size);
  }
  ASSAY_RETURN_IF_ERROR(
      SendPacket(socket_.get(), parts, std::span(control).first(control_size)));
  while (!head.empty() || !body.empty()) {
    fill();
    ASSAY_RETURN_IF_ERROR(
        SendPacket(socket_.get(), std::span(parts).last(2), {}));
  }
  return OkStatus();
}

Result<Message> Channel::Receive() {
  Header header;
  packet_.resize(kPacket);
  std::array<iovec, 2> parts = {iovec{&header, sizeof header},
                                iovec{packet_.data(), packet_.size()}};
  alignas(cmsghdr) Control control = {};
  msghdr message = {};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  bool ended = false;
  do {
    // The messages that the process sent before it ended are there.
    ended = got < 0 && errno == EAGAIN && ProcessEnded();
    got = recvmsg(socket_.get(), &message,
                  MSG_CMSG_CLOEXEC | (ended ? MSG_DONTWAIT : 0));
  } while (got < 0 && !ended && (errno == EINTR || errno == EAGAIN));
  Message received;
  if (got > 0) TakeControl(&message, &received);
  if (got <= 0) return Gone();
  if (received.sender != 0) {
    const int off = 0;
    setsockopt(socket_.get(), SOL_SOCKET, SO_PASSCRED, &off, sizeof off);
  }
  if (got < static_cast<ssize_t>(sizeof header) || header.size > kMostText ||
      header.n_descriptors != received.descriptors.size()) {
    return DataLoss("found a packet of ", got, " bytes, of a message of ",
                    header.size, " with ", received.descriptors.size(), " of ",
                    header.n_descriptors, " descriptors");
  }
  received.text.assign(packet_.data(),
                       static_cast<size_t>(got) - sizeof header);
  // Memory is taken as the text comes, whatever its length is said to be.
  while (received.text.size() < header.size) {
    do {
      got = recv(socket_.get(), packet_.data(), packet_.size(), 0);
    } while (got < 0 && (errno == EINTR || errno == EAGAIN) && !ProcessEnded());
    if (got <= 0) return Gone();
    received.text.append(packet_.data(), static_cast<size_t>(got));
  }
  if (received.text.size() == header.size) return received;
  return DataLoss("found ", received.text.size(), " bytes of a message of ",
                  header.size);
}

bool Channel::IsGone() const {
  if (ProcessEnded()) return true;
  char next = 0;
  const ssize_t got = recv(socket_.get(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 ||
         (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

}  // namespace assay::wire
