// SPDX-License-Identifier: Apache-2.0
//
// Writes cases as files, in the layout that ReadCorpus reads.
//
//   ASSAY_RETURN_IF_ERROR(WriteCaseFiles("corpus/Neg/of_int8", data));
//   ASSAY_RETURN_IF_ERROR(WriteManifest("corpus", "mine", cases));

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/case/test_case.h"

namespace assay::cases {

/// manifest.json of a corpus whose cases lie below `directory`.
Status WriteManifest(const std::filesystem::path& directory,
                     const std::string& name,
                     const std::vector<TestCase>& cases);

/// model.onnx and test_data_set_N of a case; expected outputs and stated
/// gradients where there are.
Status WriteCaseFiles(const std::filesystem::path& directory,
                      const CaseData& data);

}  // namespace assay::cases
