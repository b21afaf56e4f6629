// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/test_case.h"

#include <system_error>

#include "framework/graph/edit/model_edit.h"
#include "framework/testing/case/random_weights.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kTiers = {"smoke", "ci", "nightly",
                                                    "scale"};

bool Exists(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

// Reads PREFIX0.pb and so on as the values' types say. Files are looked for by
// name, which costs less than listing a folder. Only trailing ones may be
// missing, and only where `may_lack` says so.
Result<std::vector<Value>> ReadValues(const fs::path& directory,
                                      std::string_view prefix,
                                      const Graph& graph,
                                      const std::vector<ValueId>& ids,
                                      bool may_lack) {
  const auto file = [&](size_t i) {
    return directory / StrCat(prefix, i, ".pb");
  };
  std::vector<Value> values(ids.size());
  size_t missing = ids.size();  // the first
  for (size_t i = 0; i < ids.size(); ++i) {
    Result<Value> value = ReadValue(file(i), graph[ids[i]].type);
    if (value.ok()) {
      if (missing < i) {
        return DataLoss(file(i).string(), ": found it, but no ", prefix,
                        missing, ".pb before it");
      }
      values[i] = *std::move(value);
    } else if (may_lack && value.status().code() == StatusCode::kNotFound) {
      missing = std::min(missing, i);
    } else {
      return value.status();
    }
  }
  if (Exists(file(ids.size()))) {
    return DataLoss(file(ids.size()).string(), ": found it, wanted ",
                    ids.size(), " files, as many as the graph has such values");
  }
  return values;
}

/// Which files of a case are read.
enum class Part : uint8_t { kAll, kInputs };

Result<DataSet> ReadDataSet(const Graph& graph, const fs::path& directory,
                            Part part) {
  if (graph.outputs.empty()) {
    return DataLoss(directory.string(),
                    ": found no output of the graph, wanted at least one");
  }
  DataSet set;
  ASSAY_ASSIGN_OR_RETURN(set.inputs,
                         ReadValues(directory, "input_", graph, graph.inputs,
                                    /*may_lack=*/true));
  if (part == Part::kInputs) return set;
  ASSAY_ASSIGN_OR_RETURN(set.expected,
                         ReadValues(directory, "output_", graph, graph.outputs,
                                    /*may_lack=*/false));
  return set;
}

/// A case with random weights.
Result<CaseData> ReadRandomData(const fs::path& directory, Part part) {
  ASSAY_ASSIGN_OR_RETURN(RandomCase random, ReadRandomCase(directory));
  CaseData data;
  ASSAY_ASSIGN_OR_RETURN(
      data.model, edit::WithInitializers(*random.source, random.weights));
  const Graph& graph = random.source->graph();
  DataSet set;
  set.inputs = std::move(random.inputs);
  if (part == Part::kAll) {
    ASSAY_ASSIGN_OR_RETURN(
        set.expected, ReadValues(directory / "test_data_set_0", "output_",
                                 graph, graph.outputs, /*may_lack=*/false));
  }
  data.sets.push_back(std::move(set));
  return data;
}

Result<CaseData> ReadPart(const fs::path& directory, int n_data_sets, Part part,
                          uint64_t most_external = kAllExternal) {
  if (n_data_sets < 1) {
    return InvalidArgument(directory.string(), ": found ", n_data_sets,
                           " data sets, wanted at least one");
  }
  Result<std::shared_ptr<const Model>> model =
      Model::Read(directory / "model.onnx", most_external);
  if (model.status().code() == StatusCode::kNotFound) {
    const Status random = ReadRandomSource(directory).status();
    if (random.code() == StatusCode::kNotFound) return model.status();
    return ReadRandomData(directory, part);
  }
  if (!model.ok()) return model.status();
  CaseData data;
  data.model = *std::move(model);
  for (int i = 0; i < n_data_sets; ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        DataSet set,
        ReadDataSet(data.model->graph(),
                    directory / StrCat("test_data_set_", i), part));
    data.sets.push_back(std::move(set));
  }
  return data;
}

}  // namespace

std::string_view ToString(Tier tier) {
  return kTiers[static_cast<size_t>(tier)];
}

std::optional<Tier> TierNamed(std::string_view name) {
  const auto* const found = std::ranges::find(kTiers, name);
  if (found == kTiers.end()) return std::nullopt;
  return static_cast<Tier>(found - kTiers.begin());
}

Result<CaseData> ReadCaseData(const fs::path& directory, int n_data_sets) {
  return ReadPart(directory, n_data_sets, Part::kAll);
}

Result<CaseData> ReadCaseFacts(const fs::path& directory, int n_data_sets) {
  return ReadPart(directory, n_data_sets, Part::kAll, kMostOfFacts);
}

Result<CaseData> ReadCaseInputs(const fs::path& directory, int n_data_sets) {
  return ReadPart(directory, n_data_sets, Part::kInputs);
}

Result<Stated> ReadStated(const fs::path& directory, size_t n_outputs,
                          const std::vector<std::string>& names) {
  const fs::path set = directory / "test_data_set_0";
  const auto file = [&](const std::string& name) {
    return set / StrCat("gradient_", name, ".pb");
  };
  Stated stated;
  if (std::ranges::none_of(
          names, [&](const auto& name) { return Exists(file(name)); })) {
    return stated;
  }
  ValueType tensor;
  tensor.kind = ValueKind::kTensor;
  for (size_t i = 0; i < n_outputs; ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        Value output, ReadValue(set / StrCat("output_", i, ".pb"), tensor));
    stated.outputs.push_back(std::move(output));
  }
  for (const std::string& name : names) {
    ASSAY_ASSIGN_OR_RETURN(stated.gradients[name],
                           ReadValue(file(name), tensor));
  }
  return stated;
}

bool IsTestId(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') ||
           std::string_view("_.#+-/").find(c) != std::string_view::npos;
  };
  return std::ranges::all_of(text, allowed) &&
         std::ranges::count(text, '/') == 2 && !text.starts_with('/') &&
         !text.ends_with('/') && text.find("//") == std::string_view::npos;
}

std::string_view CaseOfTwin(std::string_view test_id) {
  constexpr std::string_view kMark = "_expanded";
  return test_id.substr(
      0, test_id.size() - (test_id.ends_with(kMark) ? kMark.size() : 0));
}

}  // namespace assay::cases
