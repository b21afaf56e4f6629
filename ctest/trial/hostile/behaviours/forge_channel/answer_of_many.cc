// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: cannot be read
// Tries: answers with 200 descriptors, and as many outputs as numbers go
// Noted: sends

#include <array>

#include "ctest/trial/hostile/forged_answer.h"

ASSAY_MISDEED(answer_of_many) {
  hostile::ForgedAnswer answer;
  answer.Put({0, 1, 0, 0, 0, 0, ~uint64_t{0}});
  std::array<int, 200> descriptors = {};
  descriptors.fill(STDIN_FILENO);
  hostile::Note("sends");  // its host may be gone behind it
  answer.Send(hostile::ChannelToJudge(), descriptors);
}
