// SPDX-License-Identifier: Apache-2.0
//
// The files of a case: its model, and the values of a data set, in the layouts
// that people keep them in. ONNX's own has model.onnx and test_data_set_N with
// input_K.pb and output_K.pb; onnx/models has NAME.onnx and test_data_N.npz;
// .npy stands for any .pb.
//
//   ASSAY_ASSIGN_OR_RETURN(const fs::path file, ModelFileOf(folder));
//   ASSAY_ASSIGN_OR_RETURN(const auto model, Model::Read(file));
//   ASSAY_ASSIGN_OR_RETURN(const SetValues set,
//                          ReadInputs(*model, SetPath(folder, 0)));

#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"

namespace assay::cases {

/// The file of a case folder that names a model elsewhere in its first line,
/// and the files of its external data in the others.
inline constexpr char kModelFile[] = "model.txt";

/// model.onnx or, without one, the model that model.txt names, or the only
/// *.onnx of the folder. Not found where there is none, invalid argument where
/// there are several.
Result<std::filesystem::path> ModelFileOf(
    const std::filesystem::path& directory);

/// The files of external data that initializers of the main graph name.
std::vector<std::string> ExternalFiles(const Model& model);

/// The folder of a data set, or its .npz.
std::filesystem::path SetPath(const std::filesystem::path& directory,
                              size_t index);

/// The values that a data set feeds.
struct SetValues {
  std::vector<Value> inputs;  // those of the graph; absent where none is given
  /// Initializers that are inputs as well, and get these values in this set.
  std::map<std::string, Tensor> overriding;
};

/// A folder of input_K.pb and input_K.npy, or of files called as the inputs
/// are, or an .npz. Where each file says a name and all are those of inputs,
/// values go by these, else by their places. Errors name the file.
Result<SetValues> ReadInputs(const Model& model,
                             const std::filesystem::path& source);

/// The outputs that a data set expects, likewise. Not found where one is
/// missing.
Result<std::vector<Value>> ReadOutputs(const Model& model,
                                       const std::filesystem::path& source);

/// True where a data set expects some output.
bool HasOutputs(const Model& model, const std::filesystem::path& source);

/// Invalid argument for a value of another type than the model declares, and
/// for an input without one. A set may expect nothing.
Status CheckDeclared(const Graph& graph, const std::filesystem::path& source,
                     const std::vector<Value>& inputs,
                     const std::vector<Value>& expected);

}  // namespace assay::cases
