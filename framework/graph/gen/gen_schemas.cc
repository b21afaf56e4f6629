// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/gen/gen_schemas.h"

#include <cctype>
#include <map>
#include <stdexcept>
#include <utility>

namespace assay::gen {
namespace {

using onnx::OpSchemaRegistry;

bool IsUpper(char c) { return std::isupper(static_cast<unsigned char>(c)); }

/// "keepDims", "transA" and "Y_h" become keep_dims, trans_a and y_h.
std::string LowerSnake(const std::string& name) {
  std::string snake;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool starts_word = i > 0 && IsUpper(name[i]) && name[i - 1] != '_' &&
                             !IsUpper(name[i - 1]);
    if (starts_word) snake += '_';
    snake +=
        static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return snake;
}

/// C++'s keywords that a formal name could be, and the struct's own member.
bool IsReserved(const std::string& name) {
  static const std::set<std::string> kReserved = {
      "and",      "auto",   "bool",     "break",    "case",     "char",
      "class",    "const",  "continue", "default",  "delete",   "do",
      "double",   "else",   "enum",     "explicit", "export",   "false",
      "float",    "for",    "friend",   "if",       "inline",   "int",
      "long",     "new",    "node",     "not",      "operator", "or",
      "private",  "public", "register", "return",   "short",    "signed",
      "static",   "struct", "switch",   "template", "this",     "true",
      "typename", "union",  "unsigned", "using",    "virtual",  "void",
      "while",    "xor"};
  return kReserved.contains(name);
}

std::string MemberName(const std::string& formal, const std::string& suffix,
                       std::set<std::string>& taken) {
  std::string member = LowerSnake(formal);
  if (IsReserved(member) || taken.contains(member)) member += suffix;
  if (!taken.insert(member).second) {
    Fail("two members are called '" + member + "'");
  }
  return member;
}

Operator Describe(OpSchema schema, std::vector<int> versions) {
  Operator op{std::move(schema), std::move(versions), {}, {}, {}};
  std::set<std::string> taken;
  for (const auto& input : op.schema.inputs()) {
    op.inputs.push_back({input, MemberName(input.GetName(), "_input", taken)});
  }
  for (const auto& output : op.schema.outputs()) {
    op.outputs.push_back(
        {output, MemberName(output.GetName(), "_output", taken)});
  }
  const std::map<std::string, OpSchema::Attribute> sorted(
      op.schema.attributes().begin(), op.schema.attributes().end());
  for (const auto& [name, attribute] : sorted) {
    op.fields.push_back({attribute, MemberName(name, "_attribute", taken)});
  }
  return op;
}

}  // namespace

const std::vector<DomainSpace>& DomainSpaces() {
  static const std::vector<DomainSpace> kSpaces = {
      {"", ""},
      {"ai.onnx.ml", "ml"},
      {"ai.onnx.preview", "preview"},
      {"ai.onnx.preview.training", "training"}};
  return kSpaces;
}

[[noreturn]] void Fail(const std::string& message) {
  throw std::runtime_error(message);
}

std::string Quoted(const std::string& text) {
  for (const char c : text) {
    if (c == '"' || c == '\\' || c < ' ') Fail("cannot quote '" + text + "'");
  }
  return '"' + text + '"';
}

std::string Wrapped(const std::string& prefix, const std::string& indent,
                    const std::vector<std::string>& words) {
  std::string text;
  std::string line = prefix;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i] + (i + 1 < words.size() ? "," : "");
    if (line.size() + 1 + word.size() > kWidth) {
      text += line + "\n";
      line = indent;
    }
    line += " " + word;
  }
  return text + line + "\n";
}

std::string Word(const std::string& text) {
  const size_t open = text.find('(');
  if (open == std::string::npos) {
    if (text == "float") return "float32";
    return text == "double" ? "float64" : text;
  }
  const std::string kind = text.substr(0, open);
  const std::string inner = text.substr(open + 1, text.size() - open - 2);
  if (kind == "tensor") return Word(inner);
  const size_t comma = kind == "map" ? inner.find(',') : std::string::npos;
  if (comma == std::string::npos) return kind + "(" + Word(inner) + ")";
  size_t value = comma + 1;
  while (inner[value] == ' ') ++value;
  return kind + "(" + Word(inner.substr(0, comma)) + "," +
         Word(inner.substr(value)) + ")";
}

std::set<std::string> WordsOf(const OpSchema::TypeConstraintParam& constraint) {
  std::set<std::string> words;
  for (const auto& type : constraint.allowed_type_strs) {
    words.insert(Word(type));
  }
  return words;
}

bool HasBody(const Operator& op) {
  return op.schema.HasFunction() || op.schema.HasContextDependentFunction();
}

std::string SpaceOf(const std::string& domain) {
  for (const DomainSpace& known : DomainSpaces()) {
    if (known.domain == domain) return known.space;
  }
  Fail("no C++ namespace is known for the domain '" + domain + "'");
}

std::string Qualified(const Operator& op) {
  const std::string space = SpaceOf(op.schema.domain());
  return "op::" + (space.empty() ? "" : space + "::") + op.schema.Name();
}

std::vector<Operator> Collect(std::vector<std::string>& deprecated) {
  std::map<std::pair<std::string, std::string>, std::set<int>> history;
  for (const OpSchema& schema :
       OpSchemaRegistry::get_all_schemas_with_history()) {
    history[{schema.domain(), schema.Name()}].insert(schema.SinceVersion());
  }
  std::vector<Operator> operators;
  for (const auto& [key, versions] : history) {
    const OpSchema* schema =
        OpSchemaRegistry::Schema(key.second, *versions.rbegin(), key.first);
    if (schema == nullptr) Fail("no schema of " + key.second);
    if (schema->Deprecated()) deprecated.push_back(key.second);
    operators.push_back(Describe(*schema, {versions.begin(), versions.end()}));
  }
  return operators;
}

}  // namespace assay::gen
