// SPDX-License-Identifier: Apache-2.0
//
// A peer of the trainer: another framework in a shared object, with no C++ type
// of either side between them.
//
//   void* const peer = assay_peer_begin("lenet5", 64, 0.01, 0.9);
//   assay_peer_steps(peer, 63);

#pragma once

#include <cstdint>

extern "C" {
/// The model with float32 images and classes of noise, plain momentum and the
/// mean of softmax cross entropy. Null for a model that it does not have.
void* assay_peer_begin(const char* model, int64_t batch, double rate,
                       double momentum);
/// So many steps: forward, backward, update.
void assay_peer_steps(void* peer, int64_t steps);
/// Its name and version.
const char* assay_peer_name();
}
