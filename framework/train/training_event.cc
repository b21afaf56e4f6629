// SPDX-License-Identifier: Apache-2.0

#include "framework/train/training_event.h"

namespace assay::train {

double Score::mean_loss() const {
  return samples == 0 ? 0 : loss / static_cast<double>(samples);
}

double Score::accuracy() const {
  return samples == 0
             ? 0
             : static_cast<double>(right) / static_cast<double>(samples);
}

}  // namespace assay::train
