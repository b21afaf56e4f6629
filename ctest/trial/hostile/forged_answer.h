// SPDX-License-Identifier: Apache-2.0
//
// Answers of a module's own on the channel between its host and the judge, in
// the form of framework/testing/host (protocol.h, wire.h).
//
//   hostile::ForgedAnswer answer = hostile::AnswerToRun();
//   answer.Put({1, 1, 0, 0, 1, 60, 0});  // a tensor without memory
//   answer.Send();

#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

#include "ctest/trial/hostile/attempt.h"

namespace hostile {

/// The socket of packets whose number is the highest; -1 where there is none.
inline int ChannelToJudge() {
  for (int fd = 2047; fd > STDERR_FILENO; --fd) {
    int type = 0;
    socklen_t size = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
        type == SOCK_SEQPACKET) {
      return fd;
    }
  }
  return -1;
}

class ForgedAnswer {
 public:
  void Put(std::initializer_list<uint64_t> numbers) {
    numbers_.insert(numbers_.end(), numbers);
  }

  /// False where nothing was sent. `claimed` is the size that is said.
  bool Send(int socket = ChannelToJudge(),
            std::span<const int> descriptors = {}, uint64_t claimed = 0) const {
    const size_t size = numbers_.size() * sizeof(uint64_t);
    uint64_t header[] = {claimed != 0 ? claimed : size, descriptors.size()};
    iovec parts[] = {{header, sizeof header},
                     {const_cast<uint64_t*>(numbers_.data()), size}};
    msghdr message = {};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    std::vector<char> control(CMSG_SPACE(descriptors.size_bytes()));
    if (!descriptors.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* const part = CMSG_FIRSTHDR(&message);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
      std::memcpy(CMSG_DATA(part), descriptors.data(),
                  descriptors.size_bytes());
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) > 0;
  }

 private:
  std::vector<uint64_t> numbers_;
};

/// An answer to "bind and run" up to its one output: OK, bound, ran, no held
/// tensor changed, ran nowhere new, synchronized.
inline ForgedAnswer AnswerToRun() {
  ForgedAnswer answer;
  answer.Put({0, 1, 0, 0, 0, 0, 1});
  return answer;
}

}  // namespace hostile
