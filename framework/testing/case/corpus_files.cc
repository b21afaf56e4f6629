// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/corpus_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/file/csv.h"
#include "framework/file/digest.h"
#include "framework/file/file.h"
#include "framework/graph/value_bytes.h"
#include "framework/testing/case/random_weights.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kCases = ",\n\"cases\": [\n";

Status CheckFile(const fs::path& file, const std::string& wanted) {
  ASSAY_ASSIGN_OR_RETURN(const std::string found, file::Sha256OfFile(file));
  if (found == wanted) return OkStatus();
  return DataLoss(file.string(), " has the digest ", found,
                  ", where the manifest of its corpus says ", wanted,
                  ": make the corpus again");
}

/// model.onnx, or the model of another case that this one is made of.
fs::path ModelFile(const fs::path& directory) {
  fs::path model = directory / "model.onnx";
  std::error_code error;
  if (fs::exists(model, error)) return model;
  const Result<RandomSource> source = ReadRandomSource(directory);
  return source.ok() ? source->model : model;
}

/// A list of digests for each data set, of the files PREFIX0.pb, PREFIX1.pb...
Status CheckValues(const TestCase& c, const Json& sets, const char* prefix) {
  for (size_t i = 0; i < sets.size(); ++i) {
    const fs::path folder = c.directory / StrCat("test_data_set_", i);
    const Json& digests = sets.at(i);
    for (size_t k = 0; k < digests.size(); ++k) {
      ASSAY_RETURN_IF_ERROR(
          CheckFile(folder / StrCat(prefix, k, ".pb"), digests.at(k)));
    }
    const fs::path next = folder / StrCat(prefix, digests.size(), ".pb");
    std::error_code error;
    if (fs::exists(next, error)) {
      return DataLoss(next.string(), " is not in the manifest of its corpus");
    }
  }
  return OkStatus();
}

Status CheckListed(const TestCase& c, const Json& digests) {
  if (digests.contains("model")) {
    ASSAY_RETURN_IF_ERROR(
        CheckFile(ModelFile(c.directory), digests.at("model")));
  }
  const Json none = Json::array();
  const Json outputs = digests.value("outputs", none);
  const Json files = digests.value("files", Json::object());
  if (outputs.empty() ? files.empty() : std::ssize(outputs) != c.n_data_sets) {
    return DataLoss("the manifest has no digests of the data sets of ",
                    c.test_id);
  }
  ASSAY_RETURN_IF_ERROR(
      CheckValues(c, digests.value("inputs", none), "input_"));
  ASSAY_RETURN_IF_ERROR(CheckValues(c, outputs, "output_"));
  for (const auto& [name, digest] : files.items()) {
    ASSAY_RETURN_IF_ERROR(CheckFile(c.directory / name, digest));
  }
  return OkStatus();
}

/// "[2,N,?];seq" as the manifest's list of inputs, with their types.
OrderedJson Inputs(std::string_view shapes,
                   const std::vector<std::string>& dtypes) {
  OrderedJson inputs = OrderedJson::array();
  while (!shapes.empty()) {
    std::string_view text = CutFront(&shapes, ";");
    if (!text.starts_with('[')) {
      inputs.push_back({{"kind", text}});
      continue;
    }
    OrderedJson shape = OrderedJson::array();
    text = text.substr(1, text.size() - 2);
    while (!text.empty()) {
      const std::string_view extent = CutFront(&text, ",");
      if (const auto number = file::ParseInt(extent)) {
        shape.push_back(*number);
      } else if (extent == "?") {
        shape.push_back(nullptr);
      } else {
        shape.push_back(extent);
      }
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

Status CheckFiles(const TestCase& c) {
  if (c.digests.empty()) return OkStatus();
  try {
    return CheckListed(c, Json::parse(c.digests));
  } catch (const Json::exception& error) {
    return DataLoss("the digests of ", c.test_id, ": ", error.what());
  }
}

std::string MadeDigest(const fs::path& corpora, std::string_view name) {
  const Result<std::string> text =
      file::ReadFile(corpora / StrCat(name, ".digest"));
  return text.ok() ? text->substr(0, text->find('\n')) : std::string();
}

Status NoteMade(const fs::path& corpus, const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const std::string manifest,
                         file::ReadFile(corpus / "manifest.json"));
  fs::path beside = (corpus / "..").lexically_normal();
  beside /= name + ".digest";
  return file::WriteFile(beside, DigestOfLines(manifest) + "\n");
}

std::optional<std::vector<std::string_view>> CaseLines(
    std::string_view manifest) {
  const size_t start = manifest.find(kCases);
  if (start == std::string_view::npos) return std::nullopt;
  manifest.remove_prefix(start + kCases.size());
  std::vector<std::string_view> lines;
  while (!manifest.empty()) {
    std::string_view line = CutFront(&manifest);
    if (line == "]") break;
    if (line.ends_with(',')) line.remove_suffix(1);
    lines.push_back(line);
  }
  if (manifest != "}\n" && manifest != "}") return std::nullopt;
  return lines;
}

std::string HeaderOf(std::string_view manifest) {
  return StrCat(manifest.substr(0, manifest.find(kCases)), "}");
}

std::string DigestOfLines(std::string_view manifest) {
  file::Sha256Stream stream;
  const auto lines = CaseLines(manifest);
  for (size_t i = 0; lines.has_value() && i < lines->size(); ++i) {
    stream.Add((*lines)[i]);
    stream.Add("\n");
  }
  return stream.Finish();
}

std::string ManifestText(const std::string& name,
                         const std::vector<std::string>& cases) {
  std::string lines;
  for (const std::string& line : cases) lines += line + "\n";
  const OrderedJson header = {{"schema", "assay.corpus/1"},
                              {"name", name},
                              {"n_cases", cases.size()},
                              {"corpus_hash", file::Sha256(lines)},
                              {"drift", Json::array()}};
  std::string text = header.dump(1);
  text.erase(text.rfind('\n'));  // and the brace
  return StrCat(text, ",\n\"cases\": [\n", Joined(cases, ",\n"),
                cases.empty() ? "" : "\n", "]\n}\n");
}

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
