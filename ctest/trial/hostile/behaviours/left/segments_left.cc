// SPDX-License-Identifier: Apache-2.0
//
// Outcome: unchanged
// Needs: walls

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "ctest/trial/hostile/misdeed.h"

// Those of System V stay until somebody removes them.
ASSAY_MISDEED(segments_left) {
  if (!hostile::BehindWalls()) return;
  for (key_t key = 0x41535359; key < 0x41535359 + 16; ++key) {
    hostile::Opaque(shmget(key, 1 << 20, IPC_CREAT | 0600));
    hostile::Opaque(semget(key, 1, IPC_CREAT | 0600));
    hostile::Opaque(msgget(key, IPC_CREAT | 0600));
  }
}
