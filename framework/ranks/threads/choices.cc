// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/threads/choices.h"

namespace assay::ranks {

size_t ListedChoices::Choose(size_t options) {
  if (at_ == way_.size()) way_.push_back({0, options});
  return way_[at_++].taken;
}

bool ListedChoices::GoOn() {
  at_ = 0;
  while (!way_.empty()) {
    if (++way_.back().taken < way_.back().options) return true;
    way_.pop_back();
  }
  return false;
}

}  // namespace assay::ranks
