// SPDX-License-Identifier: Apache-2.0
//
// A folder in ONNX's own test layout as a corpus: the manifest that the export
// would have written, derived from the models and their data.

#pragma once

#include <filesystem>

#include "framework/core/status.h"
#include "framework/testing/case/test_case.h"

namespace assay::cases {

/// Every folder at or below `root`, at any depth, with a model and at least one
/// data set (data_set.h) becomes a case. A model of one node is of suite node
/// and its operator; a folder X_expanded... beside such an X is its expansion,
/// as ONNX names them; any other is of suite model and the name of the folder
/// above it. A model or data that cannot be read, or do not fit each other, are
/// in Corpus::bad, and half a case in Corpus::passed_over, so that their loss
/// shows. Limits are those of ONNX's runner. Characters that ids may not have
/// become '_'; cases whose ids would be equal get their path below the root as
/// well.
///
/// Symbolic links are followed. Invalid argument when a folder is reached a
/// second time, not found when one cannot be read or there is no case.
Result<Corpus> ReadPlainCorpus(const std::filesystem::path& root);

}  // namespace assay::cases
