// SPDX-License-Identifier: Apache-2.0
//
// Forgeries that answer for their host, on the channel to the judge, before,
// instead of or behind what the host says. The judge reads a stranger's answers
// (framework/testing/host/wire/wire.h): one that it cannot read is an error of
// that case.

#include <sys/syscall.h>

#include <array>
#include <cstdlib>

#include "ctest/trial/hostile/forged_answer.h"

// Outcome: error
// Message: cannot be read
// Tries: leaves a child that answers for it, now and in the next case
// Noted: sends
ASSAY_MISDEED(answer_by_child) {
  hostile::Note("sends");
  if (fork() != 0) {
    usleep(50'000);  // until it has
    return;
  }
  hostile::ForgedAnswer answer = hostile::AnswerToRun();
  answer.Put({0});  // in the memory that was given
  while (answer.Send()) usleep(20'000);
  _exit(0);
}

// Outcome: error
// Message: outside of the shared memory
// Tries: answers an output that lies beside the memory that it shares
// Noted: sent
ASSAY_MISDEED(answer_elsewhere) {
  hostile::ForgedAnswer answer = hostile::AnswerToRun();
  // A value that is the caller's: in segment 0, just before its end.
  answer.Put({2, 1, 1, 0, 0, 3, 3, 4, 5, 2, 0, (8U << 20U) - 4});
  hostile::Note(hostile::SendInstead(answer) ? "sent" : "not sent");
}

// It says that 3 GiB follow, which the judge waits for.
// Outcome: timeout
// Message: time limit
// Timeout: 2
// Noted: sent
ASSAY_MISDEED(answer_endless) {
  const hostile::ForgedAnswer answer = hostile::AnswerToRun();
  const bool sent =
      answer.Send(hostile::ChannelToJudge(), {}, uint64_t{3} << 30U);
  hostile::Note(sent ? "sent" : "not sent");
  while (hostile::Opaque(1) == 1) pause();
}

// Outcome: error
// Message: cannot be read
// Tries: answers with 200 descriptors, and as many outputs as numbers go
// Noted: sends
ASSAY_MISDEED(answer_of_many) {
  hostile::ForgedAnswer answer;
  answer.Put({0, 1, 0, 0, 0, 0, ~uint64_t{0}});
  std::array<int, 200> descriptors = {};
  descriptors.fill(STDIN_FILENO);
  hostile::Note("sends");  // its host may be gone behind it
  answer.Send(hostile::ChannelToJudge(), descriptors);
}

// Outcome: error
// Message: cannot be read
// Tries: answers more elements than there can be
// Noted: sent
ASSAY_MISDEED(answer_too_large) {
  hostile::ForgedAnswer answer = hostile::AnswerToRun();
  const uint64_t many = uint64_t{1} << 32U;
  answer.Put({1, 1, 1, 0, 0, 2, many, many, 1, 0, 1});
  hostile::Note(hostile::SendInstead(answer) ? "sent" : "not sent");
}

// Outcome: error
// Message: cannot be read
// Tries: answers before it is through, and so twice
// Noted: sends
ASSAY_MISDEED(answer_twice) {
  hostile::ForgedAnswer answer = hostile::AnswerToRun();
  answer.Put({0});         // in the memory that was given
  hostile::Note("sends");  // its host may be gone behind it
  answer.Send();
}

// Outcome: error
// Message: without memory
// Tries: answers an output that has no elements to compare
// Noted: sent
ASSAY_MISDEED(answer_without_memory) {
  hostile::ForgedAnswer answer = hostile::AnswerToRun();
  // A value: a tensor of float32 on a device, of 3 x 4 x 5, of nothing.
  answer.Put({1, 1, 1, 1, 0, 3, 3, 4, 5, 0, 1});
  hostile::Note(hostile::SendInstead(answer) ? "sent" : "not sent");
}

// Outcome: error
// Message: cannot be read
// Tries: has its host call a function of its own that says all is well
// Noted: in place of sendmsg
ASSAY_MISDEED(calls_intercepted) {
  hostile::ForgedAnswer answer = hostile::AnswerToRun();
  answer.Put({0});  // in the memory that was given
  const bool done = hostile::SendInstead(answer, /*always=*/true);
  hostile::Note(done ? "in place of sendmsg" : "not found");
}

namespace {

/// The descriptor on which the program tells how those that it forked ended.
int DoorOfParent() {
  const auto parent = static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0U));
  for (int theirs = 3; theirs < 1024; ++theirs) {
    const auto own =
        static_cast<int>(syscall(SYS_pidfd_getfd, parent, theirs, 0U));
    int type = 0;
    socklen_t size = sizeof type;
    if (getsockopt(own, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
        type == SOCK_SEQPACKET) {
      return own;
    }
    close(own);
  }
  return -1;
}

}  // namespace

// Outcome: crash
// Message: exit code 0, too early
// Backend: the worker ended between
// Tries: tells the judge that it ended well, by its parent's descriptor
// Noted: sent
// Needs: walls
ASSAY_MISDEED(end_forged) {
  if (!hostile::BehindWalls()) return;
  hostile::ForgedAnswer end;
  end.Put({0});
  hostile::Note(end.Send(DoorOfParent()) ? "sent" : "not sent");
  std::abort();
}
