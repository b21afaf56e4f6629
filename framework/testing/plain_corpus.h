// SPDX-License-Identifier: Apache-2.0
//
// A folder in ONNX's own test layout as a corpus: the manifest that the export
// would have written, derived from the models and their data.
//
//   ASSAY_ASSIGN_OR_RETURN(Corpus mine, ReadPlainCorpus("vendor/cases"));

#ifndef ASSAY_TESTING_PLAIN_CORPUS_H_
#define ASSAY_TESTING_PLAIN_CORPUS_H_

#include <filesystem>

#include "framework/core/status.h"
#include "framework/testing/corpus.h"

namespace assay::inline v1 {

/// Every folder below `root`, at any depth, with a model.onnx and at least one
/// test_data_set_N becomes a case. Suite and op follow from the model: node and
/// its operator for a graph of one node, else model and the folder's parent. A
/// model that cannot be read is still a case, so that its loss shows.
Result<Corpus> ReadPlainCorpus(const std::filesystem::path& root);

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_PLAIN_CORPUS_H_
