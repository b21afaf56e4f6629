// SPDX-License-Identifier: Apache-2.0
//
// The cases of text files as the corpus `special`.
//
//   ASSAY_RETURN_IF_ERROR(
//       WriteSpecialCorpus({"cases/zeros.txt"}, "build/corpus/special"));

#pragma once

#include <filesystem>
#include <vector>

#include "conformance/special/case_text.h"
#include "framework/core/status.h"

namespace assay::special {

/// The cases of all files. Invalid argument for a wrong text or a name that two
/// files have, with file and line.
Result<std::vector<CaseText>> ReadCaseFiles(
    const std::vector<std::filesystem::path>& files);

/// Writes the corpus, which takes the place of an older one there when all
/// went well.
Status WriteSpecialCorpus(const std::vector<std::filesystem::path>& files,
                          const std::filesystem::path& place);

}  // namespace assay::special
