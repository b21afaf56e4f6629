// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/corpus.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "framework/testing/plain_corpus.h"
#include "framework/testing/policy_line.h"

namespace assay::inline v1 {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string ShapeSignature(const Json& inputs) {
  std::string text;
  for (const Json& input : inputs) {
    if (!text.empty()) text += ';';
    const Json& shape = input.value("shape", Json());
    if (!shape.is_array()) {
      text += input.at("kind").get<std::string>();
      continue;
    }
    text += '[';
    for (size_t i = 0; i < shape.size(); ++i) {
      if (i > 0) text += ',';
      text += shape[i].is_string()
                  ? shape[i].get<std::string>()
                  : (shape[i].is_null() ? "?" : shape[i].dump());
    }
    text += ']';
  }
  return text;
}

TestCase FromJson(const Json& json, const fs::path& root,
                  const std::string& corpus) {
  TestCase c;
  c.test_id = json.at("test_id");
  c.corpus = corpus;
  c.suite = json.at("suite");
  c.op = json.at("op");
  c.domain = json.at("domain");
  c.kind = json.at("kind");
  c.opset = json.at("opset");
  c.imports = json.at("imports");
  c.operators = json.at("operators");
  c.dtypes = json.at("dtypes");
  c.value_kinds = json.at("value_kinds");
  if (const auto at = json.find("attributes"); at != json.end()) {
    c.attributes = *at;
  }
  c.shape_sig = ShapeSignature(json.at("inputs"));
  const std::string comparator = json.at("comparator");
  const auto parsed = ParseComparator(comparator);
  if (!parsed.has_value()) {
    throw Json::other_error::create(
        600, StrCat("unknown comparator ", comparator), nullptr);
  }
  c.limit = {*parsed, json.at("rtol"), json.at("atol"),
             json.at("tolerance_source")};
  c.vacuous = json.at("vacuous");
  c.n_data_sets = json.at("n_data_sets");
  c.directory = root / json.at("directory").get<std::string>();
  return c;
}

/// Parses without the digests of single files, which are most of the text.
Json ParseManifest(std::istream& in) {
  return Json::parse(in, [](int, Json::parse_event_t event, Json& value) {
    return event != Json::parse_event_t::key || value != "sha256";
  });
}

Status CheckIds(const Corpus& corpus, const fs::path& file) {
  for (const TestCase& c : corpus.cases) {
    if (!IsTestId(c.test_id)) {
      return DataLoss(file.string(), ": found the test_id '", c.test_id,
                      "', wanted suite/op/case in letters, digits and _.#+-");
    }
  }
  for (size_t i = 1; i < corpus.cases.size(); ++i) {
    if (corpus.cases[i].test_id == corpus.cases[i - 1].test_id) {
      return DataLoss(file.string(), ": two cases are called ",
                      corpus.cases[i].test_id);
    }
  }
  return OkStatus();
}

Result<Corpus> ReadManifest(const fs::path& file) {
  std::ifstream in(file);
  if (!in) return NotFound("cannot read ", file.string());
  Corpus corpus;
  std::string at = "header";
  try {
    const Json manifest = ParseManifest(in);
    const std::string schema = manifest.at("schema");
    if (schema != "assay.corpus/1") {
      return DataLoss(file.string(), ": schema is ", schema,
                      ", wanted assay.corpus/1");
    }
    corpus.name = manifest.at("name");
    corpus.hash = manifest.at("corpus_hash");
    for (const Json& name : manifest.at("drift")) {
      corpus.drift.push_back(name.is_string() ? name.get<std::string>()
                                              : name.dump());
    }
    const Json& cases = manifest.at("cases");
    corpus.cases.reserve(cases.size());
    for (const Json& json : cases) {
      at = StrCat("case ", corpus.cases.size());
      corpus.cases.push_back(FromJson(json, file.parent_path(), corpus.name));
    }
    if (const size_t claimed = manifest.at("n_cases");
        claimed != corpus.cases.size()) {
      return DataLoss(file.string(), " says n_cases ", claimed, " and has ",
                      corpus.cases.size());
    }
  } catch (const Json::exception& error) {
    return DataLoss(file.string(), ", ", at, ": ", error.what());
  }
  return corpus;
}

}  // namespace

Result<Corpus> ReadCorpus(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return NotFound("no corpus at ", directory.string(),
                    ": ctest/bootstrap.sh exports ONNX's");
  }
  const fs::path manifest = directory / "manifest.json";
  Result<Corpus> corpus = fs::exists(manifest, error)
                              ? ReadManifest(manifest)
                              : ReadPlainCorpus(directory);
  if (!corpus.ok()) return corpus;
  std::sort(corpus->cases.begin(), corpus->cases.end(),
            [](const TestCase& a, const TestCase& b) {
              return a.test_id < b.test_id;
            });
  ASSAY_RETURN_IF_ERROR(CheckIds(*corpus, manifest));
  return corpus;
}

}  // namespace assay::inline v1
