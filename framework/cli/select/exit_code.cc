// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/select/exit_code.h"

#include <iostream>

namespace assay::select {

int Fail(const Status& status) {
  std::cerr << "assay: " << status.message() << "\n";
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
      return kExitUsage;
    case StatusCode::kCancelled:
      return kExitStopped;
    default:
      return kExitHarness;
  }
}

}  // namespace assay::select
