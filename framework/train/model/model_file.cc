// SPDX-License-Identifier: Apache-2.0

#include "framework/train/model/model_file.h"

#include <algorithm>

#include "framework/core/text.h"
#include "framework/file/digest.h"
#include "framework/file/file.h"
#include "framework/graph/edit/whole_model.h"
#include "framework/graph/model.h"
#include "framework/train/model/models.h"

namespace assay::train {
namespace {

namespace fs = std::filesystem;

constexpr char kData[] = ".bin";

/// True for a name that we give: 64 hexadecimal digits.
bool IsDigest(const fs::path& file) {
  constexpr size_t kDigits = 64;
  const std::string stem = file.stem().string();
  return file.extension() == kData && stem.size() == kDigits &&
         stem.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Status CheckWeights(const Model& model) {
  ASSAY_ASSIGN_OR_RETURN(const auto files, edit::ExternalFiles(model));
  for (const fs::path file : files) {
    if (!IsDigest(file)) continue;
    ASSAY_ASSIGN_OR_RETURN(const std::string found,
                           file::Sha256OfFile(model.directory() / file));
    if (found == file.stem()) continue;
    return DataLoss("found weights with the digest ", found, " in ",
                    file.string(), ", wanted those of its name");
  }
  return OkStatus();
}

}  // namespace

Status WriteModelFile(const fs::path& path, const NewModel& made) {
  edit::NamedTensors weights;
  for (const Parameter& parameter : made.parameters) {
    weights.emplace_back(parameter.name, parameter.value);
  }
  const std::string data = edit::ExternalData(weights);
  const std::string name = file::Sha256(data) + kData;
  ASSAY_ASSIGN_OR_RETURN(const std::string model,
                         edit::WithDataIn(name, *made.model, weights));
  // The model last: its weights are there by then.
  ASSAY_RETURN_IF_ERROR(file::WriteFile(path.parent_path() / name, data));
  return file::WriteFile(path, model);
}

Result<NewModel> ReadModelFile(const fs::path& path) {
  ASSAY_ASSIGN_OR_RETURN(const auto model, Model::Read(path));
  const Status checked = CheckWeights(*model);
  if (!checked.ok()) return checked.WithContext(path.string());
  auto made = NewModelOf(*model);
  if (!made.ok()) return made.status().WithContext(path.string());
  return made;
}

bool IsModelFile(const std::string& model) {
  return fs::path(model).extension() == ".onnx";
}

Result<NewModel> ModelFor(const std::string& model, const Dataset& dataset,
                          uint64_t seed) {
  if (IsModelFile(model)) return ReadModelFile(model);
  ASSAY_ASSIGN_OR_RETURN(const ModelOptions wanted, OptionsFor(dataset, seed));
  return MakeModel(model, wanted);
}

}  // namespace assay::train
