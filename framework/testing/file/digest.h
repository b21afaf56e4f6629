// SPDX-License-Identifier: Apache-2.0
//
// Digests: SHA-256 where a digest is kept or compared across machines.
//
//   const std::string hash = Sha256(text);         // 64 hexadecimal digits
//   ASSAY_ASSIGN_OR_RETURN(std::string module, Sha256OfFile("acme.so"));

#ifndef ASSAY_TESTING_FILE_DIGEST_H_
#define ASSAY_TESTING_FILE_DIGEST_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "framework/core/status.h"

namespace assay::inline v1 {

std::string Sha256(std::string_view text);

/// Not found, with the system's reason, when the file cannot be read.
Result<std::string> Sha256OfFile(const std::filesystem::path& file);

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_FILE_DIGEST_H_
