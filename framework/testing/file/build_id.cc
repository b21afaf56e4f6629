// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/file/build_id.h"

#include "framework/testing/file/digest.h"

namespace assay::inline v1 {

Result<std::string> BuildId(const std::filesystem::path& prefix) {
  std::string digests;
  for (const char* file :
       {"bin/assay", "bin/assay-worker", "lib/libassay_core.so"}) {
    ASSAY_ASSIGN_OR_RETURN(const std::string digest,
                           Sha256OfFile(prefix / file));
    digests += digest;
  }
  return Sha256(digests);
}

}  // namespace assay::inline v1
