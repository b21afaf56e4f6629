// SPDX-License-Identifier: Apache-2.0

#include "backends/openmpi/mpi_call.h"

#include <array>
#include <limits>
#include <thread>

namespace assay::openmpi {
namespace {

using Clock = std::chrono::steady_clock;

// Tries before a rank that waits leaves the processor to others for a while.
constexpr int kTries = 100;
constexpr std::chrono::microseconds kWhile(20);

}  // namespace

std::string ErrorText(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return std::string(text.data(), static_cast<size_t>(length));
}

Status Checked(int code, const char* call) {
  if (code == MPI_SUCCESS) return OkStatus();
  return Internal(call, ": ", ErrorText(code));
}

Result<int> CountOf(size_t count) {
  if (count > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return Unsupported(Reason::kShape, "found the count ", count,
                       ", wanted one below 2^31");
  }
  return static_cast<int>(count);
}

Result<bool> IsDoneInTime(const std::function<Result<bool>()>& is_done) {
  const Clock::time_point end = Clock::now() + kPatience;
  for (int tries = 0;; ++tries) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_over, is_done());
    if (is_over) return true;
    if (Clock::now() > end) return false;
    if (tries < kTries) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kWhile);
    }
  }
}

}  // namespace assay::openmpi
