// SPDX-License-Identifier: Apache-2.0

#include "framework/file/build_id.h"

#include <initializer_list>

#include "framework/file/digest.h"

namespace assay::file {

namespace {

Result<std::string> DigestOf(const std::filesystem::path& prefix,
                             const FileDigests& known,
                             std::initializer_list<const char*> files) {
  std::string digests;
  for (const char* file : files) {
    ASSAY_ASSIGN_OR_RETURN(const std::string digest, known.Of(prefix / file));
    digests += digest;
  }
  return Sha256(digests);
}

}  // namespace

Result<std::string> BuildId(const std::filesystem::path& prefix,
                            const FileDigests& digests) {
  return DigestOf(prefix, digests,
                  {"bin/assay", "bin/assay-host", "bin/assay-worker",
                   "lib/libassay_core.so"});
}

Result<std::string> WorkerId(const std::filesystem::path& prefix,
                             const FileDigests& digests) {
  return DigestOf(
      prefix, digests,
      {"bin/assay-host", "bin/assay-worker", "lib/libassay_core.so"});
}

}  // namespace assay::file
