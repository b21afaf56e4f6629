// SPDX-License-Identifier: Apache-2.0

#include "backends/mpi_process/patience.h"

#include <chrono>
#include <thread>

#include "backends/mpi_rank/call.h"

namespace assay::mpi_process {
namespace {

using Clock = std::chrono::steady_clock;

// Tries before a rank that waits leaves the processor to others for a while.
constexpr int kTries = 100;
constexpr std::chrono::microseconds kWhile(20);

Result<bool> AreDone(std::span<MPI_Request> requests,
                     std::span<MPI_Status> ended) {
  int are_over = 0;
  ASSAY_ASSIGN_OR_RETURN(const int count, mpi_rank::CountOf(requests.size()));
  const int code = MPI_Testall(count, requests.data(), &are_over, ended.data());
  if (code == MPI_ERR_IN_STATUS) {
    return DataLoss("a message: ", mpi_rank::ErrorText(ended[0].MPI_ERROR));
  }
  ASSAY_RETURN_IF_ERROR(mpi_rank::Checked(code, "MPI_Testall"));
  return are_over != 0;
}

}  // namespace

Status Patience::ForAll(std::span<MPI_Request> requests,
                        std::span<MPI_Status> ended,
                        const mpi_rank::Awaited& awaited) {
  const Clock::time_point end = Clock::now() + longest_;
  for (int tries = 0;; ++tries) {
    ASSAY_ASSIGN_OR_RETURN(const bool are_over, AreDone(requests, ended));
    if (are_over) return OkStatus();
    if (Clock::now() > end) break;
    if (tries < kTries) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kWhile);
    }
  }
  return FailedPrecondition("waited more than ", longest_.count(), " s ",
                            awaited.text());
}

}  // namespace assay::mpi_process
