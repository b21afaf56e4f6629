// SPDX-License-Identifier: Apache-2.0
//
// assay_gen_operators OUT_DIR: writes operators.h, operators.cc and visitor.h,
// the typed form of every operator, and signatures.cc and operators.txt, what
// they permit, from ONNX's schema registry.
//
//   build/bin/assay_gen_operators build/generated/framework/graph/generated
//
// The build runs it before it compiles what includes them. Nothing here names
// an operator: a newer ONNX needs only another run.

#include <charconv>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "framework/graph/gen/gen_schemas.h"
#include "framework/graph/gen/gen_signatures.h"

namespace assay::gen {
namespace {

using onnx::AttributeProto;
using onnx::OpSchemaRegistry;

std::string FloatLiteral(float value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, std::end(buffer), value).ptr;
  std::string text(buffer, end);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text + "F";
}

/// How an attribute is held, and its default as an initializer.
struct Held {
  std::string type;
  bool is_list = false;
  std::string initial;
};

Held HeldAs(const OpSchema::Attribute& attribute) {
  const AttributeProto& given = attribute.default_value;
  const auto integer = [](int64_t value) { return std::to_string(value); };
  switch (attribute.type) {
    case AttributeProto::FLOAT:
      return {"float", false, FloatLiteral(given.f())};
    case AttributeProto::INT:
      return {"int64_t", false, integer(given.i())};
    case AttributeProto::STRING:
      return {"std::string", false, Quoted(given.s())};
    case AttributeProto::FLOATS:
      return {"std::vector<float>", true,
              Listed("{", given.floats(), ", ", FloatLiteral, "}")};
    case AttributeProto::INTS:
      return {"std::vector<int64_t>", true,
              Listed("{", given.ints(), ", ", integer, "}")};
    case AttributeProto::STRINGS:
      return {"std::vector<std::string>", true,
              Listed("{", given.strings(), ", ", Quoted, "}")};
    case AttributeProto::GRAPH:
      return {"std::shared_ptr<const Graph>", true, ""};
    case AttributeProto::TENSOR:
      return {"Tensor", false, ""};
    case AttributeProto::SPARSE_TENSOR:
      return {"SparseTensor", false, ""};
    case AttributeProto::TYPE_PROTO:
      return {"ValueType", false, ""};
    default:
      Fail("attribute '" + attribute.name + "' has a type without a C++ form");
  }
}

struct Member {
  std::string type;
  std::string declarator;  // "x{0}", "alpha = 1.0F"
};

/// Lists and graphs are empty when they are absent; other optional attributes
/// without a default are std::optional.
Member MemberOf(const Field& field) {
  const OpSchema::Attribute& attribute = field.attribute;
  const Held held = HeldAs(attribute);
  if (!attribute.default_value.name().empty()) {
    if (held.initial.empty()) Fail("cannot print default of " + attribute.name);
    return {held.type, field.member + " = " + held.initial};
  }
  if (held.is_list) return {held.type, field.member};
  if (!attribute.required) {
    return {"std::optional<" + held.type + ">", field.member};
  }
  const bool number = held.type == "float" || held.type == "int64_t";
  return {held.type, field.member + (number ? " = 0" : "")};
}

Member MemberOf(const char* type, const Parameter& parameter, int position) {
  const bool variadic = parameter.formal.GetOption() == OpSchema::Variadic;
  return {std::string(variadic ? "Variadic" : "") + type,
          parameter.member + "{" + std::to_string(position) + "}"};
}

/// "  Input a{0}, b{1}, c{2};": neighbours of one type share a declaration.
std::string Declarations(const std::vector<Member>& members) {
  std::string text;
  for (size_t i = 0; i < members.size();) {
    const std::string& type = members[i].type;
    std::vector<std::string> words;
    while (i < members.size() && members[i].type == type) {
      words.push_back(members[i++].declarator);
    }
    words.back() += ";";
    text += Wrapped("  " + type, "     ", words);
  }
  return text;
}

/// "/// in X, optional: T, differentiable".
std::string ParameterComment(const char* direction,
                             const Parameter& parameter) {
  using Category = OpSchema::DifferentiationCategory;
  const auto& formal = parameter.formal;
  std::string line = std::string("///   ") + direction + " " + formal.GetName();
  if (formal.GetOption() == OpSchema::Optional) line += ", optional";
  if (formal.GetOption() == OpSchema::Variadic) {
    line +=
        formal.GetIsHomogeneous() ? ", variadic" : ", variadic, mixed types";
  }
  line += ": " + formal.GetTypeStr();
  const Category category = formal.GetDifferentiationCategory();
  if (category == Category::Differentiable) line += "; differentiable";
  if (category == Category::NonDifferentiable) line += "; not differentiable";
  return line + "\n";
}

std::string Comment(const Operator& op) {
  const OpSchema& schema = op.schema;
  std::string text = "/// " + schema.Name() + ", since version " +
                     std::to_string(schema.SinceVersion()) + " of " +
                     (schema.domain().empty() ? "ai.onnx" : schema.domain()) +
                     (schema.Deprecated() ? ", deprecated" : "") + ".\n";
  for (const auto& input : op.inputs) text += ParameterComment("in", input);
  for (const auto& output : op.outputs) text += ParameterComment("out", output);
  for (const auto& constraint : schema.typeConstraintParams()) {
    const std::set<std::string> words = WordsOf(constraint);
    text += Wrapped("///   " + constraint.type_param_str + ":", "///     ",
                    {words.begin(), words.end()});
  }
  return text;
}

std::string Struct(const Operator& op) {
  const std::string& name = op.schema.Name();
  std::ostringstream out;
  out << Comment(op) << "struct " << name << " {\n"
      << "  static constexpr OperatorId kId = OperatorId::k" << name << ";\n"
      << "  static constexpr std::string_view kName = " << Quoted(name) << ";\n"
      << "  static constexpr std::string_view kDomain = "
      << Quoted(op.schema.domain()) << ";\n"
      << "  Status Read(const Node& from);\n\n";
  std::vector<Member> members;
  int position = 0;
  for (const auto& input : op.inputs) {
    members.push_back(MemberOf("Input", input, position++));
  }
  position = 0;
  for (const auto& output : op.outputs) {
    members.push_back(MemberOf("Output", output, position++));
  }
  for (const Field& field : op.fields) members.push_back(MemberOf(field));
  out << Declarations(members);
  out << "  const Node* node = nullptr;\n};\n";
  return out.str();
}

constexpr char kOpening[] = R"(// SPDX-License-Identifier: Apache-2.0
//
// Generated by gen_operators.cc from ONNX's schema registry: do not edit.
)";

constexpr char kHeaderOpening[] = R"(// clang-format off

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/graph/model.h"
#include "framework/graph/operator.h"

namespace assay::inline v1 {

enum class OperatorId : uint16_t {
)";

std::string Header(const std::vector<Operator>& operators,
                   const std::vector<std::string>& deprecated) {
  std::ostringstream out;
  out << kOpening
      << "//\n// One struct per operator, in its newest version; operator.h "
         "says "
         "how they are\n// read.\n"
      << Wrapped("// Deprecated in that version by ONNX:", "//", deprecated)
      << kHeaderOpening;
  std::vector<std::string> ids;
  for (const Operator& op : operators) ids.push_back("k" + op.schema.Name());
  out << Wrapped(" ", " ", ids)
      << "};\n\ninline constexpr int kOperatorCount = " << operators.size()
      << ";\n\nnamespace op {\n";
  std::string open_space;
  for (const Operator& op : operators) {
    const std::string space = SpaceOf(op.schema.domain());
    if (space != open_space) {
      if (!open_space.empty())
        out << "\n}  // namespace " << open_space << "\n";
      out << "\nnamespace " << space << " {\n";
      open_space = space;
    }
    out << "\n" << Struct(op);
  }
  if (!open_space.empty()) out << "\n}  // namespace " << open_space << "\n";
  out << "\n}  // namespace op\n}  // namespace assay::inline v1\n";
  return out.str();
}

/// X::Read: the members that are the formal parameters and attributes.
std::string ReadFunction(const Operator& op) {
  std::vector<std::string> words;
  const auto list = [&](const auto& members) {
    if (members.empty()) words.emplace_back("{}");
    for (size_t i = 0; i < members.size(); ++i) {
      words.push_back((i == 0 ? "{&" : "&") + members[i].member +
                      (i + 1 < members.size() ? "" : "}"));
    }
  };
  list(op.inputs);
  list(op.outputs);
  if (!op.fields.empty()) list(op.fields);
  const std::string head =
      "Status " + Qualified(op) + "::Read(const Node& n) {";
  std::string call = "return ReadForm(this, n";
  for (const std::string& word : words) call += ", " + word;
  const std::string line = head + " " + call + "); }\n";
  if (line.size() <= kWidth + 1) return line;
  words.back() += ");";
  return head + "\n" + Wrapped("  return ReadForm(this, n,", "     ", words) +
         "}\n";
}

constexpr char kSourceOpening[] = R"(// clang-format off

#include "framework/graph/generated/operators.h"

#include "framework/graph/types/signature.h"

namespace assay::inline v1 {
namespace {

using types::ReadForm;

constexpr int16_t kVersions[] = {
)";

std::string Source(const std::vector<Operator>& operators) {
  std::ostringstream out;
  out << kOpening << kSourceOpening;
  std::vector<std::string> versions;
  for (const Operator& op : operators) {
    for (const int v : op.versions) versions.push_back(std::to_string(v));
  }
  out << Wrapped("   ", "   ", versions)
      << "};\n\n// In the order of OperatorId: by domain, then by name.\n"
         "constexpr OperatorInfo kOperators[] = {\n";
  size_t first = 0;
  std::vector<std::string> infos;
  for (const Operator& op : operators) {
    infos.push_back("{" + Quoted(op.schema.domain()) + ", " +
                    Quoted(op.schema.Name()) + ", {kVersions + " +
                    std::to_string(first) + ", " +
                    std::to_string(op.versions.size()) + "}" +
                    (HasBody(op) ? ", true" : ", false") +
                    (op.schema.Deprecated() ? ", true}" : "}"));
    first += op.versions.size();
  }
  out << Wrapped("   ", "   ", infos);
  out << "};\n\nconstexpr DomainInfo kDomains[] = {\n";
  const auto ranges = OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  for (const DomainSpace& known : DomainSpaces()) {
    out << "    {" << Quoted(known.domain) << ", "
        << ranges.at(known.domain).second << "},\n";
  }
  out << "};\n\n}  // namespace\n\n"
         "std::span<const OperatorInfo> Operators() { return kOperators; }\n\n"
         "std::span<const DomainInfo> Domains() { return kDomains; }\n\n";
  for (const Operator& op : operators) out << ReadFunction(op);
  out << "\n}  // namespace assay::inline v1\n";
  return out.str();
}

constexpr char kVisitorOpening[] = R"(//
// The visitor of typed operators, and Accept, which calls it.
// clang-format off

#pragma once

#include "framework/graph/generated/operators.h"

namespace assay::inline v1 {

// A visitor overrides some of the overloads of Visit: that is its purpose.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverloaded-virtual"

/// One Visit per operator; what is not overridden is declined. R is made from
/// a Status where a node cannot be read.
template <class R, class C>
class Visitor {
 public:
  virtual ~Visitor() = default;

)";

constexpr char kVisitorMiddle[] = R"(
 protected:
  virtual R Decline(OperatorId id, C& context) = 0;
};

#pragma GCC diagnostic pop

/// Calls `f` with the type of the operator, as in
/// WithOperator(id, []<class Op>() { ... }).
template <class F>
decltype(auto) WithOperator(OperatorId id,  // NOLINT(readability-function-size)
                            F&& f) {
  using enum OperatorId;
  switch (id) {
)";

constexpr char kVisitorClosing[] = R"(  }
  __builtin_unreachable();
}

/// Reads the node as its operator and hands it to the visitor. Unsupported,
/// reason operator, for a node that ONNX has no current operator for.
template <class R, class C>
R Accept(const Node& node, Visitor<R, C>& visitor, C& context) {
  const auto id = FindOperator(node.domain, node.op_type);
  if (!id.has_value()) return UnknownOperator(node);
  return WithOperator(*id, [&]<class Op>() -> R {
    Op op;
    if (Status status = op.Read(node); !status.ok()) return status;
    return visitor.Visit(op, context);
  });
}

}  // namespace assay::inline v1
)";

/// On one line where that fits.
std::string FunctionOf(const std::string& head, const std::string& body) {
  const std::string line = head + " { " + body + " }\n";
  if (line.size() <= kWidth + 1) return line;
  return head + " {\n    " + body + "\n  }\n";
}

std::string VisitorHeader(const std::vector<Operator>& operators) {
  std::string text = kOpening;
  text += kVisitorOpening;
  for (const Operator& op : operators) {
    text +=
        FunctionOf("  virtual R Visit(const " + Qualified(op) + "& o, C& c)",
                   "return Decline(o.kId, c);");
  }
  text += kVisitorMiddle;
  for (const Operator& op : operators) {
    const std::string head = "    case k" + op.schema.Name() + ":";
    const std::string body =
        "return f.template operator()<" + Qualified(op) + ">();\n";
    const bool fits = head.size() + body.size() <= kWidth;
    text += head + (fits ? " " : "\n      ") + body;
  }
  return text + kVisitorClosing;
}

/// Leaves a file that is right as it is, so that nobody compiles it again.
void Write(const std::string& path, const std::string& text) {
  std::ostringstream found;
  found << std::ifstream(path, std::ios::binary).rdbuf();
  if (found.str() == text) return;
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) Fail("cannot write " + path);
}

}  // namespace

void Generate(const std::string& folder) {
  std::vector<std::string> deprecated;
  const std::vector<Operator> operators = Collect(deprecated);
  std::set<std::string> names;
  for (const Operator& op : operators) {
    if (!names.insert(op.schema.Name()).second) {
      Fail("two domains have an operator " + op.schema.Name() +
           ": OperatorId needs a prefix");
    }
  }
  Write(folder + "/operators.h", Header(operators, deprecated));
  Write(folder + "/operators.cc", Source(operators));
  Write(folder + "/visitor.h", VisitorHeader(operators));
  Write(folder + "/signatures.cc", SignatureSource(operators));
  Write(folder + "/operators.txt", SignatureText(operators));
}

}  // namespace assay::gen

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: assay_gen_operators OUT_DIR\n";
    return 2;
  }
  try {
    assay::gen::Generate(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << "assay_gen_operators: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
