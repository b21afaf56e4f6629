// SPDX-License-Identifier: Apache-2.0

#include "conformance/special/case_text.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "conformance/special/text_parts.h"
#include "conformance/special/value_text.h"
#include "framework/file/file.h"
#include "framework/graph/edit/model_edit.h"
#include "framework/graph/model_text.h"
#include "framework/testing/case/corpus_files.h"
#include "framework/testing/case/plain_corpus_case.h"

namespace assay::special {
namespace {

/// The texts that $NAME stands for.
using Names = std::map<std::string, std::string, std::less<>>;

bool IsNamePart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (c >= '0' && c <= '9');
}

/// The text with what $NAME and ${NAME} stand for.
std::string Replaced(std::string_view text, const Names& names) {
  std::string made;
  for (size_t at = text.find('$'); at != text.npos; at = text.find('$')) {
    made += text.substr(0, at);
    text.remove_prefix(at + 1);
    const bool braced = text.starts_with('{');
    if (braced) text.remove_prefix(1);
    const auto end = std::ranges::find_if_not(text, IsNamePart);
    const auto size = static_cast<size_t>(end - text.begin());
    const auto found = names.find(text.substr(0, size));
    if (found == names.end()) {
      Fail(StrCat("$", text.substr(0, size)), "a name that is known here");
    }
    made += found->second;
    text.remove_prefix(size);
    if (braced && !text.starts_with('}')) Fail(text, "'}'");
    if (braced) text.remove_prefix(1);
  }
  return made += text;
}

/// "NAME MARK REST" or throws; the parts without blanks at their ends.
std::pair<std::string, std::string> Parted(const std::string& text,
                                           std::string_view mark) {
  const size_t at = text.find(mark);
  if (at == text.npos || at == 0) Fail(text, StrCat("NAME", mark, "TEXT"));
  return {text.substr(0, at), text.substr(at + mark.size())};
}

int OpsetOf(std::string_view text) {
  Words words(text);
  const auto opset = static_cast<int>(words.TakeNumber());
  words.ExpectEnd();
  return opset;
}

/// Reads one `case`, which stands for many.
class CaseReader {
 public:
  CaseReader(std::span<const Line> lines, Names names, std::string place)
      : lines_(lines), names_(std::move(names)), place_(std::move(place)) {}

  std::vector<CaseText> Read() {
    header_ = lines_[0].text;
    for (const Line& line : lines_.subspan(1)) ReadClause(line);
    if (model_.empty()) Fail("no model", "one");
    EachRow(0, names_);
    return std::move(cases_);
  }

 private:
  void ReadClause(const Line& line) {
    const std::string word = line.text.substr(0, line.text.find(' '));
    const std::string rest =
        line.text.substr(std::min(word.size() + 1, line.text.size()));
    std::map<std::string_view, std::string*> once = {
        {"types", &types_}, {"opset", &opset_},        {"opsets", &opsets_},
        {"model", &model_}, {"initializers", &fixed_}, {"limit", &limit_}};
    if (line.depth == 2) {
      if (tables_.empty()) Fail(line.text, "a row after 'for NAMES in'");
      tables_.back().AddRow(line.text);
    } else if (const auto known = once.find(word); known != once.end()) {
      if (!known->second->empty()) Fail(StrCat(word, " twice"), "it once");
      *known->second = rest;
    } else if (word == "for") {
      tables_.emplace_back(rest);
    } else {
      const bool more = values_.empty() || line.text.starts_with("=>");
      values_ += StrCat(more ? " " : "; ", line.text);
    }
  }

  void EachRow(size_t table, const Names& names) {
    if (table == tables_.size()) return EachType(names);
    for (const auto& row : tables_[table].rows()) {
      Names more = names;
      for (const auto& [name, text] : row) more[name] = text;
      EachRow(table + 1, more);
    }
  }

  void EachType(const Names& names) {
    CaseText made;
    std::tie(made.name, made.because) = Parted(Replaced(header_, names), ": ");
    made.place = place_;
    if (!limit_.empty()) {
      const auto [limit, because] =
          Parted(Replaced(limit_, names), " because ");
      Words words(limit);
      made.rtol =
          static_cast<double>(Evaluate(words, {DType::kFloat64, {}, 0}));
      words.ExpectEnd();
      made.rtol_because = because;
    }
    if (types_.empty()) return EachOpset(std::move(made), names);
    const std::string name = made.name;
    for (const DType type : TypesOf(Replaced(types_, names))) {
      made.name = StrCat(name, "_", type);
      Names more = names;
      const DType bits = UnsignedOf(type);
      more["T"] = TextName(type);
      more["U"] = TextName(bits);
      more["N"] = std::to_string(static_cast<int>(type));
      more["M"] = std::to_string(static_cast<int>(bits));
      EachOpset(made, more);
    }
  }

  void EachOpset(CaseText made, const Names& names) {
    made.model = Replaced(model_, names);
    // The name of the graph, which matters to nobody.
    if (made.model.starts_with('(')) made.model.insert(0, "g ");
    made.values = Replaced(values_, names);
    made.initializers = WordsOf(Replaced(fixed_, names));
    if (opsets_.empty()) {
      if (!opset_.empty()) made.opset = OpsetOf(Replaced(opset_, names));
      cases_.push_back(std::move(made));
      return;
    }
    const std::string name = made.name;
    for (const std::string& opset : WordsOf(Replaced(opsets_, names))) {
      made.opset = OpsetOf(opset);
      made.name = StrCat(name, "_opset_", opset);
      cases_.push_back(made);
    }
  }

  std::span<const Line> lines_;
  const Names names_;
  const std::string place_;
  std::string header_, types_, opset_, opsets_, model_, fixed_, limit_, values_;
  std::vector<Table> tables_;
  std::vector<CaseText> cases_;
};

/// Reads the lines of a file.
class FileReader {
 public:
  explicit FileReader(const std::string& file) : file_(file) {}

  void Read(std::span<const Line> lines) {
    for (size_t i = 0; i < lines.size();) {
      place_ = StrCat(file_, ":", lines[i].number);
      size_t end = i + 1;
      while (end < lines.size() && lines[end].depth > 0) ++end;
      const Line& first = lines[i];
      if (first.text.starts_with("let ")) {
        const auto [name, text] = Parted(first.text.substr(4), " = ");
        names_[name] = Replaced(text, names_);
        if (end > i + 1) Fail(lines[i + 1].text, "one line of 'let'");
      } else if (first.text.starts_with("case ")) {
        std::vector<Line> whole(
            lines.begin() + static_cast<std::ptrdiff_t>(i),
            lines.begin() + static_cast<std::ptrdiff_t>(end));
        whole[0].text.erase(0, 5);
        for (CaseText& made : CaseReader(whole, names_, place_).Read()) {
          if (!taken_.insert(made.name).second) {
            Fail(StrCat(made.name, " twice"), "each name once");
          }
          cases_.push_back(std::move(made));
        }
      } else {
        Fail(first.text, "'case NAME: BECAUSE' or 'let NAME = TEXT'");
      }
      i = end;
    }
  }

  std::vector<CaseText> Take() { return std::move(cases_); }
  std::string place() const { return place_; }

 private:
  const std::string& file_;
  std::string place_;
  Names names_;
  std::set<std::string> taken_;
  std::vector<CaseText> cases_;
};

/// The types of some values of a graph, by name.
void AddTypes(const Graph& graph, const std::vector<ValueId>& ids,
              std::map<std::string, ValueType>* types) {
  for (const ValueId id : ids) {
    const ValueInfo& value = graph.values[static_cast<size_t>(id)];
    types->emplace(value.name, value.type);
  }
}

/// The values of these ids, in order.
std::vector<Value> Chosen(const std::map<std::string, Value>& values,
                          const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<Value> found;
  for (const ValueId id : ids) {
    found.push_back(values.at(graph.values[static_cast<size_t>(id)].name));
  }
  return found;
}

/// The values that a text gives beside inputs.
enum class Stated : uint8_t { kNothing, kOutputs, kGradients };

/// Under "dx" the type of each `x` that has a gradient.
void AddGradientTypes(const std::map<std::string, ValueType>& inputs,
                      std::map<std::string, ValueType>* types) {
  for (const auto& [name, type] : inputs) {
    if (type.kind == ValueKind::kTensor && IsFloatingPoint(type.dtype)) {
      types->emplace(StrCat("d", name), type);
    }
  }
}

/// The model with the text's initializers, each with its value.
Result<std::shared_ptr<const Model>> Fixed(
    const CaseText& text, const Model& model,
    const std::map<std::string, Value>& values) {
  std::map<std::string, Tensor> fixed;
  for (const std::string& name : text.initializers) {
    const auto value = values.find(name);
    if (value == values.end() || value->second.tensor() == nullptr) {
      return InvalidArgument("found the initializer '", name,
                             "', wanted an input that is a tensor");
    }
    fixed[name] = *value->second.tensor();
  }
  return edit::WithInitializers(model, fixed);
}

Result<cases::CaseData> ParsedModel(const CaseText& text, Stated stated) {
  cases::CaseData data;
  ASSAY_ASSIGN_OR_RETURN(data.model,
                         graph::ParseModelText(text.model, text.opset));
  const Graph& graph = data.model->graph();
  std::map<std::string, ValueType> types;
  AddTypes(graph, graph.inputs, &types);
  std::map<std::string, ValueType> gradients;
  if (stated == Stated::kGradients) AddGradientTypes(types, &gradients);
  types.insert(gradients.begin(), gradients.end());
  const std::vector<ValueId> expected =
      stated == Stated::kNothing ? std::vector<ValueId>() : graph.outputs;
  AddTypes(graph, expected, &types);
  ASSAY_ASSIGN_OR_RETURN(const auto values, ParseValues(text.values, types));
  cases::DataSet set;
  set.expected = Chosen(values, graph, expected);
  for (const auto& [name, type] : gradients) {
    set.gradients.emplace(name.substr(1), values.at(name));
  }
  if (!text.initializers.empty()) {
    ASSAY_ASSIGN_OR_RETURN(data.model, Fixed(text, *data.model, values));
  }
  const Graph& fixed = data.model->graph();
  set.inputs = Chosen(values, fixed, fixed.inputs);
  data.sets.push_back(std::move(set));
  return data;
}

Result<cases::CaseData> Parsed(const CaseText& text, Stated stated) {
  auto data = ParsedModel(text, stated);
  if (data.ok()) return data;
  return InvalidArgument(text.place, ": ", text.name, ": ",
                         data.status().message());
}

namespace fs = std::filesystem;

constexpr const char* kName = "special";

void DescribeSpecial(const CaseText& text, const Graph&, cases::TestCase* c) {
  c->test_id = StrCat(kName, "/", text.name);
  c->suite = c->kind = kName;
  c->limit = {record::Comparator::kExact, 0, 0, "exact by hand"};
  if (text.rtol > 0) {
    c->limit = {record::Comparator::kTolerance, text.rtol, 0,
                text.rtol_because};
  }
}

/// The facts of a case whose files lie in `folder`.
cases::TestCase Describe(const TextCorpus& corpus, const CaseText& text,
                         const Graph& graph, const fs::path& folder) {
  cases::TestCase c = cases::DescribeFolder(folder, 1).test_case;
  c.corpus = corpus.name;
  c.op = text.name.substr(0, text.name.find('/'));
  c.domain = "ai.onnx";
  for (const Node& node : graph.nodes) {
    if (cases::OperatorName(node.domain, node.op_type) != c.op) continue;
    c.domain = node.domain.empty() ? "ai.onnx" : node.domain;
  }
  c.opset = c.imports.at(c.domain);
  corpus.describe(text, graph, &c);
  return c;
}

Result<cases::TestCase> WriteCase(const TextCorpus& corpus,
                                  const CaseText& text, const fs::path& root) {
  ASSAY_ASSIGN_OR_RETURN(const cases::CaseData data, corpus.data(text));
  const fs::path folder = root / corpus.name / text.name;
  ASSAY_RETURN_IF_ERROR(cases::WriteCaseFiles(folder, data));
  return Describe(corpus, text, data.model->graph(), folder);
}

}  // namespace

Result<std::vector<CaseText>> ReadCases(std::string_view text,
                                        const std::string& file) {
  FileReader reader(file);
  try {
    reader.Read(LinesOf(text));
  } catch (const std::exception& error) {
    return InvalidArgument(reader.place(), ": ", error.what());
  }
  return reader.Take();
}

Result<cases::CaseData> DataOf(const CaseText& text) {
  return Parsed(text, Stated::kOutputs);
}

Result<cases::CaseData> InputsOf(const CaseText& text) {
  return Parsed(text, Stated::kNothing);
}

Result<cases::CaseData> GradientsOf(const CaseText& text) {
  const bool states = text.values.find("=>") != std::string::npos;
  return Parsed(text, states ? Stated::kGradients : Stated::kNothing);
}

Result<std::vector<CaseText>> ReadCaseFiles(
    const std::vector<fs::path>& files) {
  std::vector<CaseText> all;
  std::map<std::string, std::string> places;
  for (const fs::path& file : files) {
    ASSAY_ASSIGN_OR_RETURN(const std::string text, file::ReadFile(file));
    ASSAY_ASSIGN_OR_RETURN(auto cases, ReadCases(text, file.string()));
    for (CaseText& c : cases) {
      const auto [first, is_new] = places.emplace(c.name, c.place);
      if (!is_new) {
        return InvalidArgument(c.place, ": found ", c.name, ", which ",
                               first->second, " has, wanted each name once");
      }
      all.push_back(std::move(c));
    }
  }
  return all;
}

Status WriteTextCorpus(const TextCorpus& corpus,
                       std::span<const CaseText> texts, const fs::path& place) {
  const fs::path partial = place.string() + ".partial";
  std::error_code error;
  fs::remove_all(partial, error);
  std::vector<cases::TestCase> cases;
  for (const CaseText& text : texts) {
    ASSAY_ASSIGN_OR_RETURN(cases::TestCase c, WriteCase(corpus, text, partial));
    cases.push_back(std::move(c));
  }
  std::ranges::sort(cases, {}, &cases::TestCase::test_id);
  ASSAY_RETURN_IF_ERROR(cases::WriteManifest(partial, corpus.name, cases));
  fs::remove_all(place, error);
  fs::rename(partial, place, error);
  if (!error) return cases::NoteMade(place, corpus.name);
  return InvalidArgument("cannot write ", place.string(), ": ",
                         error.message());
}

Status WriteSpecialCorpus(const std::vector<fs::path>& files,
                          const fs::path& place) {
  ASSAY_ASSIGN_OR_RETURN(const auto texts, ReadCaseFiles(files));
  return WriteTextCorpus({kName, &DataOf, &DescribeSpecial}, texts, place);
}

}  // namespace assay::special
