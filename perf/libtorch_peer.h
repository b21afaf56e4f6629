// SPDX-License-Identifier: Apache-2.0
//
// A peer of train_bench: another framework in a shared object, with no C++ type
// of either side between them.

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
