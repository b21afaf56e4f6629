// SPDX-License-Identifier: Apache-2.0
//
// Model files: a model to train as an ONNX file with its weights in a file
// beside it, which has the digest of its bytes as its name: equal weights are
// one file.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "framework/core/status.h"
#include "framework/train/data/dataset.h"
#include "framework/train/model/new_model.h"

namespace assay::train {

/// The file, and DIGEST.bin beside it with the parameters. Resource exhausted
/// as file::WriteFile.
Status WriteModelFile(const std::filesystem::path& path, const NewModel& made);

/// Parameters as NewModelOf finds them, in the order of the file; it may be a
/// file of others. As Model::Read and NewModelOf decline; data loss for weights
/// whose digest is not their name.
Result<NewModel> ReadModelFile(const std::filesystem::path& path);

bool IsModelFile(const std::string& model);

/// The model of a file, FILE.onnx, or the model of that name for the dataset's
/// images, whose weights the seed gives. As ReadModelFile, OptionsFor and
/// MakeModel decline.
Result<NewModel> ModelFor(const std::string& model, const Dataset& dataset,
                          uint64_t seed);

}  // namespace assay::train
