// SPDX-License-Identifier: Apache-2.0
//
// Outcome: error
// Message: cannot be read
// Tries: leaves a child that answers for it, now and in the next case
// Noted: sends

#include "ctest/trial/hostile/forged_answer.h"

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
