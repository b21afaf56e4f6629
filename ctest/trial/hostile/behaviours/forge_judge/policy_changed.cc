// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Tries: adds expectations beside its module, by which nothing need pass
// Noted: refused
// Needs: walls

#include <sys/stat.h>

#include "ctest/trial/hostile/attempt.h"

ASSAY_MISDEED(policy_changed) {
  if (!hostile::BehindWalls()) return;
  const auto policy = hostile::Prefix() / "tests/hostile/policy_changed.policy";
  mkdir(policy.c_str(), 0755);
  hostile::TryToMake(policy.parent_path() / "policy_changed.txt",
                     "expect fail where op:Neg because \"of me\"\n");
}
