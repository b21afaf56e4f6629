// SPDX-License-Identifier: Apache-2.0

#include "backends/mpi_rank/call.h"

#include <array>
#include <limits>

namespace assay::mpi_rank {

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

}  // namespace assay::mpi_rank
