// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: takes the mounts off that hide the answers
// Noted: Operation not permitted
// Needs: walls

#include <sys/mount.h>

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(answers_uncovered) {
  if (!hostile::BehindWalls()) return;
  const std::filesystem::path corpus =
      std::filesystem::weakly_canonical(hostile::Prefix() / "corpus/onnx");
  const bool done = umount2(corpus.c_str(), MNT_DETACH) == 0;
  hostile::NoteDone("taking it off", done);
  if (hostile::TakeAnswer(corpus, output)) hostile::Note("took the answer");
}
