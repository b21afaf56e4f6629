// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/write_corpus.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/file/csv.h"
#include "framework/file/digest.h"
#include "framework/file/file.h"
#include "framework/graph/value_bytes.h"
#include "framework/testing/case/corpus_files.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

/// "[2,N,?];seq" as the manifest's list of inputs, with their types.
OrderedJson Inputs(const std::string& shape_sig,
                   const std::vector<std::string>& dtypes) {
  OrderedJson inputs = OrderedJson::array();
  size_t at = 0;
  while (at < shape_sig.size()) {
    size_t end = std::min(shape_sig.find(';', at), shape_sig.size());
    const std::string text = shape_sig.substr(at, end - at);
    at = end + 1;
    if (!text.starts_with('[')) {
      inputs.push_back({{"kind", text}});
      continue;
    }
    OrderedJson shape = OrderedJson::array();
    for (size_t i = 1; i + 1 < text.size();) {
      const size_t comma = std::min(text.find(',', i), text.size() - 1);
      const std::string extent = text.substr(i, comma - i);
      const auto number = file::ParseInt(extent);
      if (number.has_value()) {
        shape.push_back(*number);
      } else if (extent == "?") {
        shape.push_back(nullptr);
      } else {
        shape.push_back(extent);
      }
      i = comma + 1;
    }
    inputs.push_back({{"kind", "tensor"}, {"shape", shape}});
    const size_t k = inputs.size() - 1;
    if (k < dtypes.size() && !dtypes[k].empty()) {
      inputs.back()["dtype"] = dtypes[k];
    }
  }
  return inputs;
}

OrderedJson Outputs(const std::vector<std::string>& dtypes) {
  OrderedJson outputs = OrderedJson::array();
  for (const std::string& dtype : dtypes) {
    outputs.push_back(
        {{"kind", dtype.empty() ? "other" : "tensor"}, {"dtype", dtype}});
  }
  return outputs;
}

OrderedJson ToJson(const TestCase& c, const fs::path& root,
                   const OrderedJson& digests) {
  OrderedJson json = {
      {"test_id", c.test_id},
      {"kind", c.kind},
      {"suite", c.suite},
      {"op", c.op},
      {"domain", c.domain},
      {"opset", c.opset},
      {"imports", c.imports},
      {"operators", c.operators},
      {"attributes", c.attributes},
      {"dtypes", c.dtypes},
      {"value_kinds", c.value_kinds},
      {"inputs", Inputs(c.shape_sig, c.input_dtypes)},
      {"outputs", Outputs(c.output_dtypes)},
      {"comparator", ToString(c.limit.comparator)},
      {"rtol", c.limit.rtol},
      {"atol", c.limit.atol},
      {"tolerance_source", c.limit.source},
      {"n_data_sets", c.n_data_sets},
      {"vacuous", c.vacuous},
      {"directory", c.directory.lexically_relative(root).generic_string()},
      {"sha256", {{"files", digests}}}};
  if (c.claim == ClaimKind::kGradient) json["claim"] = "gradient";
  if (c.tier == Tier::kNightly) json["tier"] = "nightly";
  return json;
}

/// The digests of all files of a case, by their paths below its folder.
Result<OrderedJson> DigestsOf(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error);
       !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    if (entry->is_regular_file(error)) files.push_back(entry->path());
  }
  std::ranges::sort(files);
  OrderedJson digests = OrderedJson::object();
  for (const fs::path& file : files) {
    ASSAY_ASSIGN_OR_RETURN(
        digests[file.lexically_relative(directory).generic_string()],
        file::Sha256OfFile(file));
  }
  return digests;
}

Status WriteValues(const fs::path& directory, std::string_view prefix,
                   const Graph& graph, const std::vector<ValueId>& ids,
                   const std::vector<Value>& values) {
  for (size_t i = 0; i < values.size() && values[i].present(); ++i) {
    const std::string name = i < ids.size() ? graph[ids[i]].name : "";
    ASSAY_ASSIGN_OR_RETURN(const std::string bytes,
                           graph::SerializeValue(values[i], name));
    ASSAY_RETURN_IF_ERROR(
        file::WriteFile(directory / StrCat(prefix, i, ".pb"), bytes));
  }
  return OkStatus();
}

}  // namespace

Status WriteManifest(const fs::path& directory, const std::string& name,
                     const std::vector<TestCase>& cases) {
  std::vector<std::string> lines;
  for (const TestCase& c : cases) {
    ASSAY_ASSIGN_OR_RETURN(const OrderedJson digests, DigestsOf(c.directory));
    lines.push_back(ToJson(c, directory, digests).dump());
  }
  return file::WriteFile(directory / "manifest.json",
                         ManifestText(name, lines));
}

Status WriteCaseFiles(const fs::path& directory, const CaseData& data) {
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(directory));
  const auto bytes = data.model->bytes();
  ASSAY_RETURN_IF_ERROR(file::WriteFile(
      directory / "model.onnx",
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  const Graph& graph = data.model->graph();
  for (size_t i = 0; i < data.sets.size(); ++i) {
    const fs::path set = directory / StrCat("test_data_set_", i);
    ASSAY_RETURN_IF_ERROR(file::MakeDirectory(set));
    ASSAY_RETURN_IF_ERROR(
        WriteValues(set, "input_", graph, graph.inputs, data.sets[i].inputs));
    ASSAY_RETURN_IF_ERROR(WriteValues(set, "output_", graph, graph.outputs,
                                      data.sets[i].expected));
    for (const auto& [name, value] : data.sets[i].gradients) {
      ASSAY_ASSIGN_OR_RETURN(const std::string proto,
                             graph::SerializeValue(value, name));
      ASSAY_RETURN_IF_ERROR(
          file::WriteFile(set / StrCat("gradient_", name, ".pb"), proto));
    }
  }
  return OkStatus();
}

}  // namespace assay::cases
