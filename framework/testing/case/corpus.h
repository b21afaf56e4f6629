// SPDX-License-Identifier: Apache-2.0
//
// Reads a folder of cases: one that the export wrote, with a manifest.json, or
// a plain folder in ONNX's own test layout, whose facts are derived from its
// files.

#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "framework/core/status.h"
#include "framework/testing/case/test_case.h"

namespace assay::cases {

/// Reads the manifest of the export when there is one, else takes the directory
/// for a plain folder in ONNX's own test layout (plain_corpus.h). Data
/// loss for a manifest that is broken, with file and case, or whose lines are
/// not those of its digest; not found when the folder does not exist or holds
/// no case. The files of a manifest's cases are not looked at: CheckFiles
/// (corpus_files.h) does.
///
/// Where `only` names test_ids, the other cases of a manifest are left out,
/// which spares their parsing; all are in the digest, as ever.
Result<Corpus> ReadCorpus(const std::filesystem::path& directory,
                          std::span<const std::string> only = {});

}  // namespace assay::cases
