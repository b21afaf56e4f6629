// SPDX-License-Identifier: Apache-2.0
//
// Digests of the files that workers execute from. A file that was not touched
// since is not read again.
//
//   const std::string lines = DigestLines(entry.text);

#ifndef ASSAY_SUPERVISE_FILE_DIGESTS_H_
#define ASSAY_SUPERVISE_FILE_DIGESTS_H_

#include <string>
#include <string_view>

namespace assay::inline v1 {

/// "DIGEST PATH" lines for paths, a line each, without those of files that
/// cannot be read any more.
std::string DigestLines(std::string_view paths);

}  // namespace assay::inline v1

#endif  // ASSAY_SUPERVISE_FILE_DIGESTS_H_
