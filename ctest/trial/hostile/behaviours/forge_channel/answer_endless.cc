// SPDX-License-Identifier: Apache-2.0
//
// Outcome: timeout
// Message: time limit
// Timeout: 2
// Noted: sent

#include "ctest/trial/hostile/forged_answer.h"

// It says that 3 GiB follow, which the judge waits for.
ASSAY_MISDEED(answer_endless) {
  const hostile::ForgedAnswer answer = hostile::AnswerToRun();
  const bool sent =
      answer.Send(hostile::ChannelToJudge(), {}, uint64_t{3} << 30U);
  hostile::Note(sent ? "sent" : "not sent");
  while (hostile::Opaque(1) == 1) pause();
}
