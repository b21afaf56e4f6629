// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/case/corpus.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>

#include "framework/file/digest.h"
#include "framework/file/file.h"
#include "framework/testing/case/corpus_files.h"
#include "framework/testing/case/plain_corpus.h"
#include "framework/testing/record/field.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;
using Element = simdjson::dom::element;

/// The member of that name as a T; throws a text that names it.
template <class T>
T Get(const Element& json, const char* key) {
  T value;
  const simdjson::error_code error = json[key].get(value);
  if (error == simdjson::SUCCESS) return value;
  throw std::runtime_error(
      StrCat("member ", key, ": ", simdjson::error_message(error)));
}

std::string Text(const Element& json, const char* key) {
  return std::string(Get<std::string_view>(json, key));
}

std::vector<std::string> Texts(const Element& json, const char* key) {
  std::vector<std::string> texts;
  for (const Element& item : Get<simdjson::dom::array>(json, key)) {
    texts.emplace_back(item.get_string().value());
  }
  return texts;
}

/// "[2,N,?];[3]": extents that are known, named or neither.
std::string ShapeSignature(const Element& json) {
  std::string text;
  for (const Element& input : Get<simdjson::dom::array>(json, "inputs")) {
    if (!text.empty()) text += ';';
    simdjson::dom::array shape;
    if (input["shape"].get(shape) != simdjson::SUCCESS) {
      text += Text(input, "kind");
      continue;
    }
    const std::string extents =
        Joined(shape, ",", [](const Element& extent) -> std::string {
          if (extent.is_null()) return "?";
          if (!extent.is_string()) return simdjson::minify(extent);
          return std::string(extent.get_string().value());
        });
    text += StrCat("[", extents, "]");
  }
  return text;
}

/// The element types of the values in a list, empty for a value that is no
/// tensor; none where there is no such list.
std::vector<std::string> Dtypes(const Element& json, const char* key) {
  std::vector<std::string> dtypes;
  simdjson::dom::array values;
  if (json[key].get(values) != simdjson::SUCCESS) return dtypes;
  for (const Element& value : values) {
    std::string_view dtype;
    if (value["dtype"].get(dtype) != simdjson::SUCCESS) dtype = "";
    dtypes.emplace_back(Text(value, "kind") == "tensor" ? dtype : "");
  }
  return dtypes;
}

/// The claim that a case is about; the forward where it names none.
ClaimKind ClaimOf(const Element& json) {
  if (json["claim"].error() == simdjson::NO_SUCH_FIELD) {
    return ClaimKind::kForward;
  }
  const std::string claim = Text(json, "claim");
  if (claim == "gradient") return ClaimKind::kGradient;
  throw std::runtime_error(
      StrCat("found the claim ", claim, ", wanted gradient"));
}

/// The tier that a case names, else that of its kind.
Tier TierOf(const Element& json, std::string_view kind) {
  if (json["tier"].error() == simdjson::NO_SUCH_FIELD) {
    return kind == "node" ? Tier::kSmoke : Tier::kCi;
  }
  const std::string tier = Text(json, "tier");
  if (tier == "nightly") return Tier::kNightly;
  throw std::runtime_error(StrCat("found the tier ", tier, ", wanted nightly"));
}

TestCase FromJson(const Element& json, const fs::path& root,
                  const std::string& corpus) {
  TestCase c;
  c.test_id = Text(json, "test_id");
  c.corpus = corpus;
  c.suite = Text(json, "suite");
  c.op = Text(json, "op");
  c.domain = Text(json, "domain");
  c.kind = Text(json, "kind");
  c.opset = static_cast<int>(Get<int64_t>(json, "opset"));
  for (const auto& [name, version] :
       Get<simdjson::dom::object>(json, "imports")) {
    c.imports.emplace(name, static_cast<int>(version.get_int64().value()));
  }
  c.operators = Texts(json, "operators");
  c.dtypes = Texts(json, "dtypes");
  c.value_kinds = Texts(json, "value_kinds");
  simdjson::dom::object attributes;
  if (json["attributes"].get(attributes) == simdjson::SUCCESS) {
    for (const auto& [name, value] : attributes) {
      c.attributes.emplace(name, value.get_string().value());
    }
  }
  c.shape_sig = ShapeSignature(json);
  c.input_dtypes = Dtypes(json, "inputs");
  c.output_dtypes = Dtypes(json, "outputs");
  c.tier = TierOf(json, c.kind);
  c.claim = ClaimOf(json);
  const std::string comparator = Text(json, "comparator");
  const auto parsed = record::ParseComparator(comparator);
  if (!parsed.has_value()) {
    throw std::runtime_error(StrCat("unknown comparator ", comparator));
  }
  c.limit = {*parsed, Get<double>(json, "rtol"), Get<double>(json, "atol"),
             Text(json, "tolerance_source")};
  c.vacuous = Text(json, "vacuous");
  c.n_data_sets = static_cast<int>(Get<int64_t>(json, "n_data_sets"));
  c.directory = root / Text(json, "directory");
  Get<simdjson::dom::object>(json, "sha256");
  c.digests = simdjson::minify(json["sha256"].value());
  return c;
}

Status CheckIds(const Corpus& corpus, const fs::path& file) {
  for (const TestCase& c : corpus.cases) {
    if (!IsTestId(c.test_id)) {
      return DataLoss(file.string(), ": found the test_id '", c.test_id,
                      "', wanted suite/op/case in letters, digits and _.#+-");
    }
  }
  const auto twice =
      std::ranges::adjacent_find(corpus.cases, {}, &TestCase::test_id);
  if (twice == corpus.cases.end()) return OkStatus();
  return DataLoss(file.string(), ": two cases are called ", twice->test_id);
}

/// The inputs of a case as "0 2", the hidden ones apart; "-" for none. Empty
/// where nothing is known, "?".
std::string Shown(const TestCase& c, const std::string& hidden) {
  record::IndexList left_out;
  if (hidden != "-" && !record::ParseField(hidden, &left_out)) return "";
  const std::string& shapes = c.shape_sig;  // with a semicolon between inputs
  const int64_t inputs =
      shapes.empty() ? 0 : 1 + std::ranges::count(shapes, ';');
  record::IndexList shown;
  for (int64_t i = 0; i < inputs; ++i) {
    if (std::ranges::find(left_out, i) == left_out.end()) shown.push_back(i);
  }
  return shown.empty() ? "-" : record::FieldText(shown);
}

/// Lines "folder: name 0 2, name ?": inputs that do not show, where all others
/// do; or ? where nothing is known. The twin name_expanded is as its case if it
/// is not listed itself, as "-". Outputs that are drawn at random need nothing,
/// and lines that begin with # say what the file is.
Status ReadInsensitive(const fs::path& file, Corpus* corpus) {
  std::error_code error;
  if (!fs::exists(file, error)) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  corpus->hash = file::Sha256(corpus->hash + text);
  std::map<std::string, std::string_view, std::less<>> hidden;
  std::string_view lines = text;
  for (int number = 1; !lines.empty(); ++number) {
    std::string_view line = CutFront(&lines);
    if (line.empty() || line.front() == '#') continue;
    const std::string_view folder = CutFront(&line, ": ");
    do {
      std::string_view indices = CutFront(&line, ", ");
      const std::string id = StrCat(folder, "/", CutFront(&indices, " "));
      if (indices.empty() ||
          indices.find_first_not_of("0123456789 ?-") != indices.npos ||
          !hidden.emplace(id, indices).second) {
        return DataLoss(file.string(), ":", number, ": found '", id, " ",
                        indices,
                        "', wanted a test_id once, and indices, - or ?");
      }
    } while (!line.empty());
  }
  for (TestCase& c : corpus->cases) {
    if (c.limit.comparator != record::Comparator::kDistribution) {
      auto found = hidden.find(c.test_id);
      if (found == hidden.end()) found = hidden.find(CaseOfTwin(c.test_id));
      c.sensitive =
          Shown(c, std::string(found == hidden.end() ? "-" : found->second));
    }
  }
  return OkStatus();
}

/// The header, a JSON object but for its cases.
uint64_t ReadHeader(const Element& header, Corpus* corpus) {
  if (const std::string schema = Text(header, "schema");
      schema != "assay.corpus/1") {
    throw std::runtime_error(
        StrCat("schema is ", schema, ", wanted assay.corpus/1"));
  }
  corpus->name = Text(header, "name");
  corpus->hash = Text(header, "corpus_hash");
  corpus->drift = Texts(header, "drift");
  return Get<uint64_t>(header, "n_cases");
}

/// False when the line is plainly of no case of `only`; where that is empty,
/// all cases are wanted. A line with a backslash may spell one in another way.
bool MayHold(std::string_view line, std::span<const std::string> only) {
  return only.empty() || line.find('\\') != line.npos ||
         std::ranges::any_of(only, [&](const std::string& id) {
           return memmem(line.data(), line.size(), id.data(), id.size()) !=
                  nullptr;
         });
}

/// The cases, a JSON object a line. They are parsed one by one, in memory that
/// stays in the processor's cache.
void ReadCases(const std::vector<std::string_view>& lines, const fs::path& root,
               std::span<const std::string> only, Corpus* corpus) {
  simdjson::dom::parser parser;
  if (only.empty()) corpus->cases.reserve(lines.size());
  for (const std::string_view line : lines) {
    if (!MayHold(line, only)) {
      ++corpus->n_left_out;
      continue;
    }
    corpus->cases.push_back(
        FromJson(parser.parse(line.data(), line.size()), root, corpus->name));
  }
}

Result<Corpus> ReadManifest(const fs::path& file,
                            std::span<const std::string> only) {
  Corpus corpus;
  bool in_case = false;
  ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
  try {
    const auto lines = CaseLines(text);
    simdjson::dom::parser parser;
    const Element header =
        parser.parse(lines.has_value() ? HeaderOf(text) : text);
    const uint64_t claimed = ReadHeader(header, &corpus);
    if (!lines.has_value()) Get<simdjson::dom::array>(header, "cases");
    in_case = true;
    if (lines.has_value()) {
      ReadCases(*lines, file.parent_path(), only, &corpus);
    }
    if (lines.has_value() && claimed != lines->size()) {
      return DataLoss(file.string(), " says n_cases ", claimed, " and has ",
                      lines->size());
    }
    if (DigestOfLines(text) != corpus.hash) {
      return DataLoss(file.string(),
                      ": its cases are not those that its corpus_hash is of: "
                      "make the corpus again");
    }
  } catch (const std::exception& error) {
    const std::string at =
        in_case ? StrCat("case ", std::ssize(corpus.cases) + corpus.n_left_out)
                : "header";
    return DataLoss(file.string(), ", ", at, ": ", error.what());
  }
  return corpus;
}

}  // namespace

Result<Corpus> ReadCorpus(const fs::path& directory,
                          std::span<const std::string> only) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return NotFound("no corpus at ", directory.string(),
                    ", wanted a folder of cases; ctest/bootstrap.sh exports "
                    "ONNX's");
  }
  const fs::path manifest = directory / "manifest.json";
  Result<Corpus> corpus = fs::exists(manifest, error)
                              ? ReadManifest(manifest, only)
                              : ReadPlainCorpus(directory);
  if (!corpus.ok()) return corpus;
  if (!std::ranges::is_sorted(corpus->cases, {}, &TestCase::test_id)) {
    std::ranges::sort(corpus->cases, {}, &TestCase::test_id);
  }
  ASSAY_RETURN_IF_ERROR(CheckIds(*corpus, manifest));
  ASSAY_RETURN_IF_ERROR(
      ReadInsensitive(directory / "insensitive.txt", &*corpus));
  return corpus;
}

}  // namespace assay::cases
