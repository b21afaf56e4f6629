// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "framework/graph/edit/model_edit.h"
#include "framework/testing/case/corpus_files.h"
#include "framework/testing/case/plain_corpus_case.h"
#include "framework/testing/case/random_weights.h"
#include "gradcheck/case/gradient_case.h"
#include "gradcheck/scaled/scale.h"

namespace assay::gradcheck {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "scaled";
constexpr const char* kGroup = "light";
constexpr int64_t kMostWeights = 12'000;
constexpr int64_t kSeed = 1;

/// The folders of models, by the name that a case gets.
Result<std::map<std::string, fs::path>> ModelsIn(const fs::path& folder) {
  constexpr std::string_view kPrefix = "test_";
  std::map<std::string, fs::path> models;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
    const fs::path file = entry->path() / "model.onnx";
    if (fs::exists(file, error)) models.emplace(cases::IdPart(name), file);
  }
  if (error) {
    return NotFound("cannot read ", folder.string(), ": ", error.message());
  }
  if (models.empty()) {
    return NotFound("found no model in ", folder.string(),
                    ", wanted folders with a model.onnx");
  }
  return models;
}

int64_t CountOf(const std::map<std::string, Tensor>& weights) {
  int64_t count = 0;
  for (const auto& [name, tensor] : weights) count += tensor.num_elements();
  return count;
}

Result<cases::TestCase> WriteCase(const std::string& name, const Model& model,
                                  const fs::path& root) {
  ASSAY_ASSIGN_OR_RETURN(const Scale scale, ScaleWithin(model, kMostWeights));
  ASSAY_ASSIGN_OR_RETURN(const auto data, ScaledCase(model, scale, kSeed));
  const fs::path folder = root / kName / name;
  ASSAY_RETURN_IF_ERROR(cases::WriteCaseFiles(folder, data));
  cases::TestCase c = cases::DescribeFolder(folder, 1).test_case;
  c.corpus = kName;
  c.op = kGroup;
  c.domain = "ai.onnx";
  c.opset = c.imports.at(c.domain);
  c.suite = "gradcheck";
  c.kind = kName;
  c.claim = cases::ClaimKind::kGradient;
  c.test_id = StrCat("gradcheck/", kGroup, "/", name,
                     Suffix({InputClass::kOfficial, DType::kFloat32}));
  return c;
}

}  // namespace

Result<Scale> ScaleWithin(const Model& model, int64_t most_weights) {
  constexpr int64_t kMostDivisor = 128;
  constexpr int64_t kMostPixels = 256;
  Scale scale;
  Status last = OkStatus();
  for (scale.image = 2; scale.image <= kMostPixels; ++scale.image) {
    last = ScaledDown(model, scale).status();
    if (last.code() != StatusCode::kInvalidArgument) break;
  }
  ASSAY_RETURN_IF_ERROR(last);
  for (scale.least = 2; scale.least > 0; --scale.least) {
    for (scale.divisor = 4; scale.divisor <= kMostDivisor; scale.divisor += 4) {
      ASSAY_ASSIGN_OR_RETURN(const auto scaled, ScaledDown(model, scale));
      ASSAY_ASSIGN_OR_RETURN(const auto weights,
                             cases::RandomWeights(*scaled, kSeed));
      if (CountOf(weights) <= most_weights) return scale;
    }
  }
  return ResourceExhausted("found no divisor up to ", kMostDivisor,
                           " that leaves a model ", most_weights, " weights");
}

Result<cases::CaseData> ScaledCase(const Model& model, const Scale& scale,
                                   int64_t seed) {
  ASSAY_ASSIGN_OR_RETURN(const auto scaled, ScaledDown(model, scale));
  ASSAY_ASSIGN_OR_RETURN(
      const auto weights,
      cases::RandomWeights(*scaled, seed, cases::Signs::kMostlyPositive));
  cases::CaseData data;
  ASSAY_ASSIGN_OR_RETURN(data.model, edit::WithInitializers(*scaled, weights));
  data.sets.emplace_back();
  for (const ValueId id : scaled->graph().inputs) {
    const ValueInfo& info = scaled->graph()[id];
    ASSAY_ASSIGN_OR_RETURN(
        Tensor image,
        cases::UniformTensor(*info.type.StaticShape(), 0, 2, seed, info.name));
    data.sets[0].inputs.emplace_back(std::move(image));
  }
  return data;
}

Status WriteScaledCorpus(const fs::path& models, const fs::path& place) {
  const fs::path partial = place.string() + ".partial";
  std::error_code error;
  fs::remove_all(partial, error);
  ASSAY_ASSIGN_OR_RETURN(const auto found, ModelsIn(models));
  std::vector<cases::TestCase> cases;
  for (const auto& [name, file] : found) {
    ASSAY_ASSIGN_OR_RETURN(const auto model, Model::Read(file));
    ASSAY_ASSIGN_OR_RETURN(cases::TestCase c, WriteCase(name, *model, partial));
    cases.push_back(std::move(c));
  }
  std::ranges::sort(cases, {}, &cases::TestCase::test_id);
  ASSAY_RETURN_IF_ERROR(cases::WriteManifest(partial, kName, cases));
  fs::remove_all(place, error);
  fs::rename(partial, place, error);
  if (!error) return cases::NoteMade(place, kName);
  return InvalidArgument("cannot write ", place.string(), ": ",
                         error.message());
}

}  // namespace assay::gradcheck
