// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/batch_place.h"

namespace assay::worker {

BatchPlace& CasePlace() {
  static BatchPlace place;
  return place;
}

}  // namespace assay::worker
