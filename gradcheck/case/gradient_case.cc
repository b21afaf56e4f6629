// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/case/gradient_case.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "framework/core/text.h"
#include "framework/graph/generated/operators.h"
#include "framework/graph/types/check.h"
#include "gradcheck/catalogue/catalogue.h"

namespace assay::gradcheck {
namespace {

struct ClassRow {
  std::string_view name;
  std::string_view meaning;
  bool is_written = false;
};
/// By InputClass.
constexpr ClassRow kClasses[] = {
    {"official", "the example's own"},
    {"redrawn", "drawn within the range of the example's, without ties"},
    {"exact", "small integers, so that sums are exact in any order"},
    {"kinks", "few values, so that many are tied or stand at a kink"},
    {"jacobian", "as redrawn, for every element of every Jacobian"},
    {"field", "a shape or a value that a public thread reports", true},
    {"borders", "by hand, where two pieces of a function meet or values tie",
     true},
    {"special", "by hand, zeros, extremes and what is not finite", true},
    {"composed", "a network at random", true}};
static_assert(std::size(kClasses) ==
              static_cast<size_t>(InputClass::kComposed) + 1);
constexpr std::array kTypes = {DType::kFloat32, DType::kFloat64,
                               DType::kFloat16, DType::kBFloat16};

constexpr std::string_view kExactOperators =
    "Add CenterCropPad Col2Im Compress Concat Conv ConvTranspose CumSum "
    "DepthToSpace Einsum Expand Flatten Gather GatherElements GatherND Gemm "
    "Identity MatMul Mul Neg OneHot Pad ReduceProd ReduceSum ReduceSumSquare "
    "Reshape ReverseSequence Scan ScatterElements ScatterND Slice "
    "SpaceToDepth Split Squeeze Sub Sum Tile Transpose Trilu Unsqueeze Where";

constexpr std::string_view kKinkedOperators =
    "Abs Celu Clip Elu GlobalMaxPool HardSigmoid HardSwish LeakyRelu Max "
    "MaxPool Min PRelu ReduceL1 ReduceMax ReduceMin Relu Selu Shrink Softsign "
    "ThresholdedRelu TopK";

const ClassRow& RowOf(InputClass input_class) {
  return kClasses[static_cast<size_t>(input_class)];
}

/// Names stand apart by blanks.
bool Contains(std::string_view names, OperatorId op) {
  const OperatorInfo& info = Operators()[static_cast<size_t>(op)];
  return info.domain.empty() &&
         StrCat(" ", names, " ").find(StrCat(" ", info.name, " ")) !=
             names.npos;
}

constexpr std::string_view kSuite = "gradcheck";
constexpr std::string_view kSource = "node";
constexpr std::string_view kExpanded = "expanded";
constexpr std::string_view kGraph = "graph";
constexpr std::string_view kScaled = "scaled";
constexpr std::string_view kModel = "model";

/// The operator of a case of one node.
std::optional<OperatorId> OperatorOf(const cases::TestCase& c) {
  const size_t dot = c.op.rfind('.');
  const std::string_view name =
      std::string_view(c.op).substr(dot == std::string::npos ? 0 : dot + 1);
  return FindOperator(c.domain == "ai.onnx" ? "" : c.domain, name);
}

/// The type of the first of these values that carries gradients, where the
/// operator's parameter at its place is differentiable. Omitted values are not
/// counted, so that a place may be one too early.
std::optional<DType> FirstType(OperatorId op,
                               std::span<const types::FormalParameter> formals,
                               const std::vector<std::string>& dtypes) {
  for (size_t i = 0; i < dtypes.size(); ++i) {
    const auto type = ParseDType(dtypes[i]);
    const types::FormalParameter* const formal = types::FormalAt(formals, i);
    if (type.has_value() && Carries(*type) && formal != nullptr &&
        IsDifferentiable(op, *formal)) {
      return *type;
    }
  }
  return std::nullopt;
}

/// True when some differentiable input of the operator may be of that type.
bool Permits(OperatorId op, DType type) {
  const types::OperatorSignature& signature = types::SignatureOf(op);
  return std::ranges::any_of(
      signature.inputs, [&](const types::FormalParameter& input) {
        const auto& words =
            signature.variables[static_cast<size_t>(input.variable)].types;
        return IsDifferentiable(op, input) &&
               std::ranges::find(words, ToString(type)) != words.end();
      });
}

cases::TestCase Derived(const cases::TestCase& source, const Variant& variant,
                        DType own, cases::Tier tier) {
  cases::TestCase c = source;
  const size_t slash = source.test_id.rfind('/');
  const size_t end = source.test_id.rfind('#');
  c.test_id =
      StrCat(kSuite, "/", source.op, source.test_id.substr(slash, end - slash),
             Suffix(variant));
  c.corpus = c.suite = kSuite;
  c.claim = cases::ClaimKind::kGradient;
  c.tier = tier;
  c.n_data_sets = 1;
  c.vacuous.clear();
  c.sensitive.clear();
  if (variant.type != own) {
    const auto change = [&](std::string& dtype) {
      if (dtype == ToString(own)) dtype = ToString(variant.type);
    };
    std::ranges::for_each(c.dtypes, change);
    std::ranges::for_each(c.input_dtypes, change);
    std::ranges::for_each(c.output_dtypes, change);
    const std::set<std::string> once(c.dtypes.begin(), c.dtypes.end());
    c.dtypes.assign(once.begin(), once.end());
  }
  return c;
}

/// The type that the gradients of an operator's case are taken in; nothing
/// where none are.
std::optional<DType> OwnType(OperatorId op, const cases::TestCase& c) {
  const types::OperatorSignature& signature = types::SignatureOf(op);
  if (!FirstType(op, signature.outputs, c.output_dtypes).has_value()) {
    return std::nullopt;
  }
  return FirstType(op, signature.inputs, c.input_dtypes);
}

/// All of one case of an operator, or of its function body.
void Derive(const cases::TestCase& c, std::vector<cases::TestCase>* cases) {
  using enum cases::Tier;
  const std::optional<OperatorId> op = OperatorOf(c);
  if (!op.has_value()) return;
  const std::optional<DType> own = OwnType(*op, c);
  if (!own.has_value()) return;
  const auto add = [&](InputClass input_class, DType type, cases::Tier tier) {
    cases->push_back(Derived(c, {input_class, type}, *own, tier));
  };
  const bool expanded = c.kind == kExpanded;
  add(InputClass::kOfficial, *own, expanded ? kCi : kSmoke);
  add(InputClass::kRedrawn, *own, kCi);
  if (expanded) return;
  add(InputClass::kJacobian, *own, kNightly);
  if (IsExact(*op)) add(InputClass::kExact, *own, kCi);
  if (HasKinks(*op)) add(InputClass::kKinks, *own, kCi);
  if (*own != DType::kFloat32 || ComputesInFloat32(*op)) return;
  for (const DType type :
       {DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    if (!Permits(*op, type)) continue;
    if (!types::OutputsPermit(*op, c.opset, type)) continue;
    add(InputClass::kRedrawn, type, kCi);
    add(InputClass::kOfficial, type, kNightly);
    if (IsExact(*op)) add(InputClass::kExact, type, kNightly);
    if (HasKinks(*op)) add(InputClass::kKinks, type, kNightly);
  }
}

/// "ai.onnx::Relu" as a manifest lists it.
bool IsKinked(const std::string& qualified) {
  const auto op = FindOperator("", qualified.substr(qualified.rfind(':') + 1));
  return op.has_value() && HasKinks(*op);
}

/// Derives cases from a network that its corpus has as it is written, in
/// float32. In 16 bits some number of a network is soon so near a kink that its
/// rounding crosses the kink, and units to first order say nothing about the
/// effect.
void DeriveGraph(const cases::TestCase& c,
                 std::vector<cases::TestCase>* cases) {
  using enum cases::Tier;
  const auto add = [&](InputClass input_class, DType type, cases::Tier tier) {
    cases->push_back(Derived(c, {input_class, type}, DType::kFloat32, tier));
  };
  add(InputClass::kRedrawn, DType::kFloat32, kCi);
  const bool kinked = std::ranges::any_of(c.operators, IsKinked);
  for (const DType type :
       {DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    if (kinked && type != DType::kFloat64) continue;
    add(InputClass::kRedrawn, type, kCi);
    add(InputClass::kOfficial, type, kNightly);
  }
}

/// True when the operator may be in that type wherever gradients flow through
/// it in float32, at the opset that the case imports.
bool PermitsInAll(const cases::TestCase& c, const std::string& qualified,
                  DType type) {
  const size_t colon = qualified.rfind("::");
  const std::string domain = qualified.substr(0, colon);
  const auto op = FindOperator(domain == "ai.onnx" ? "" : domain,
                               qualified.substr(colon + 2));
  if (!op.has_value() || ComputesInFloat32(*op)) return false;
  const auto opset = c.imports.find(domain);
  if (opset != c.imports.end() &&
      !types::OutputsPermit(*op, opset->second, type)) {
    return false;
  }
  const types::OperatorSignature& signature = types::SignatureOf(*op);
  return std::ranges::all_of(
      signature.inputs, [&](const types::FormalParameter& input) {
        const auto& words =
            signature.variables[static_cast<size_t>(input.variable)].types;
        const auto permits = [&](DType permitted) {
          return std::ranges::find(words, ToString(permitted)) != words.end();
        };
        return !IsDifferentiable(*op, input) || !permits(DType::kFloat32) ||
               permits(type);
      });
}

/// Derives cases from a network of a person's own: as it is, and others in its
/// type; of float32 as DeriveGraph does, where all its operators may be in that
/// type.
void DeriveOwn(const cases::TestCase& c, std::vector<cases::TestCase>* cases) {
  using enum cases::Tier;
  const auto* const own = std::ranges::find_if(kTypes, [&](DType type) {
    return std::ranges::count(c.dtypes, ToString(type)) > 0;
  });
  if (own == kTypes.end()) return;
  const auto add = [&](InputClass input_class, DType type, cases::Tier tier) {
    cases->push_back(Derived(c, {input_class, type}, *own, tier));
  };
  add(InputClass::kOfficial, *own, kCi);
  add(InputClass::kRedrawn, *own, kCi);
  const bool kinked = std::ranges::any_of(c.operators, IsKinked);
  for (const DType type : kTypes) {
    const bool permitted =
        std::ranges::all_of(c.operators, [&](const std::string& qualified) {
          return PermitsInAll(c, qualified, type);
        });
    if (*own != DType::kFloat32 || type == *own || !permitted) continue;
    if (kinked && type != DType::kFloat64) continue;
    add(InputClass::kRedrawn, type, kCi);
    add(InputClass::kOfficial, type, kNightly);
  }
}

/// Derives cases from a network of many layers, which has kinks at so many
/// places that another draw in float32 soon meets one.
void DeriveScaled(const cases::TestCase& c,
                  std::vector<cases::TestCase>* cases) {
  const auto add = [&](InputClass input_class, cases::Tier tier) {
    cases->push_back(
        Derived(c, {input_class, DType::kFloat64}, DType::kFloat32, tier));
  };
  add(InputClass::kRedrawn, cases::Tier::kCi);
  add(InputClass::kOfficial, cases::Tier::kNightly);
}

/// "golden" is the group of networks, "Relu" and "ml.Scaler" are operators.
bool IsGroup(std::string_view op) {
  const char first = op.substr(op.rfind('.') + 1).front();
  return first >= 'a' && first <= 'z';
}

}  // namespace

std::string_view ToString(InputClass input_class) {
  return RowOf(input_class).name;
}

std::string_view MeaningOf(InputClass input_class) {
  return RowOf(input_class).meaning;
}

bool IsWritten(InputClass input_class) { return RowOf(input_class).is_written; }

std::optional<Variant> VariantOf(std::string_view test_id) {
  const size_t hash = test_id.rfind('#');
  if (hash == std::string_view::npos) return std::nullopt;
  const std::string_view end = test_id.substr(hash);
  for (size_t i = 0; i < std::size(kClasses); ++i) {
    for (const DType type : kTypes) {
      const Variant variant{static_cast<InputClass>(i), type};
      if (Suffix(variant) == end) return variant;
    }
  }
  return std::nullopt;
}

std::string Suffix(const Variant& variant) {
  return StrCat("#", ToString(variant.input_class), ".",
                assay::ToString(variant.type));
}

Result<GradientCase> CaseOf(const record::PlanRow& row,
                            const record::RunFacts& facts) {
  const auto variant = VariantOf(row.test_id);
  if (!variant.has_value()) {
    return Unsupported(Reason::kReader, row.test_id,
                       " does not end in #class.type");
  }
  return GradientCase{row, facts.seed, *variant};
}

bool IsExact(OperatorId op) { return Contains(kExactOperators, op); }

// Its function body takes the root of its scale in float32, and hands scores of
// float32 to a modifier whatever the type of Q is, double apart.
bool ComputesInFloat32(OperatorId op) {
  return op == OperatorId::kFlexAttention;
}

bool ComparesInputs(OperatorId op) {
  return op == OperatorId::kClip || op == OperatorId::kMax ||
         op == OperatorId::kMin;
}

bool HasKinks(OperatorId op) { return Contains(kKinkedOperators, op); }

std::vector<cases::TestCase> GradientCases(
    std::span<const cases::Corpus> corpora) {
  std::vector<cases::TestCase> cases;
  for (const cases::Corpus& corpus : corpora) {
    for (const cases::TestCase& c : corpus.cases) {
      if (c.suite == kSource && (c.kind == "node" || c.kind == kExpanded)) {
        Derive(c, &cases);
      } else if (c.suite == kSuite && c.kind == kGraph) {
        DeriveGraph(c, &cases);
      } else if (c.suite == kSuite && c.kind == kScaled) {
        DeriveScaled(c, &cases);
      } else if (c.own && c.suite == kModel && c.kind == kModel) {
        DeriveOwn(c, &cases);
      }
    }
  }
  return cases;
}

std::string SourceOf(std::string_view test_id) {
  const auto variant = VariantOf(test_id);
  if (!test_id.starts_with(kSuite) || !variant.has_value() ||
      IsWritten(variant->input_class)) {
    return std::string(test_id);
  }
  const std::string_view own = test_id.substr(0, test_id.rfind('#'));
  const std::string_view op = own.substr(kSuite.size() + 1);
  if (IsGroup(op.substr(0, op.find('/')))) {
    return StrCat(own, Suffix({InputClass::kOfficial, DType::kFloat32}));
  }
  return StrCat(kSource, own.substr(kSuite.size()));
}

}  // namespace assay::gradcheck
