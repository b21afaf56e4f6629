// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/corpus_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/file/digest.h"
#include "framework/file/file.h"
#include "framework/testing/case/random_weights.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kCases = ",\n\"cases\": [\n";

Status CheckFile(const fs::path& file, const std::string& wanted) {
  ASSAY_ASSIGN_OR_RETURN(const std::string found, file::Sha256OfFile(file));
  if (found == wanted) return OkStatus();
  return DataLoss(file.string(), " has the digest ", found,
                  ", where the manifest of its corpus says ", wanted,
                  ": make the corpus again");
}

/// model.onnx, or the model of another case that this one is made of.
Result<fs::path> ModelFile(const fs::path& directory) {
  fs::path model = directory / "model.onnx";
  std::error_code error;
  if (fs::exists(model, error)) return model;
  const Result<RandomSource> source = ReadRandomSource(directory);
  if (source.ok()) return source->model;
  return model;
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
    ASSAY_ASSIGN_OR_RETURN(const fs::path model, ModelFile(c.directory));
    ASSAY_RETURN_IF_ERROR(CheckFile(model, digests.at("model")));
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
  for (const std::string_view line :
       lines.value_or(std::vector<std::string_view>())) {
    stream.Add(line);
    stream.Add("\n");
  }
  return stream.Finish();
}

std::string ManifestText(const std::string& name,
                         const std::vector<std::string>& cases) {
  std::string lines;
  for (const std::string& line : cases) lines += line + "\n";
  const nlohmann::ordered_json header = {{"schema", "assay.corpus/1"},
                                         {"name", name},
                                         {"n_cases", cases.size()},
                                         {"corpus_hash", file::Sha256(lines)},
                                         {"drift", Json::array()}};
  std::string text = header.dump(1);
  text.erase(text.rfind('\n'));  // and the brace
  return StrCat(text, ",\n\"cases\": [\n", Joined(cases, ",\n"),
                cases.empty() ? "" : "\n", "]\n}\n");
}

}  // namespace assay::cases
