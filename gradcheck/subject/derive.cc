// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/subject/derive.h"

#include <algorithm>
#include <optional>
#include <set>

#include "gradcheck/catalogue/catalogue.h"
#include "gradcheck/draw/draw.h"
#include "gradcheck/subject/operator_classes.h"
#include "gradcheck/subject/variant.h"

namespace assay::gradcheck {
namespace {

constexpr std::string_view kSuite = "gradcheck";
constexpr std::string_view kSource = "node";

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
  c.test_id = StrCat(kSuite, "/", source.op, source.test_id.substr(slash),
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

/// All of one case of a corpus.
void Derive(const cases::TestCase& c, std::vector<cases::TestCase>* cases) {
  using enum cases::Tier;
  const std::optional<OperatorId> op = OperatorOf(c);
  if (!op.has_value()) return;
  const types::OperatorSignature& signature = types::SignatureOf(*op);
  const auto own = FirstType(*op, signature.inputs, c.input_dtypes);
  if (!own.has_value() ||
      !FirstType(*op, signature.outputs, c.output_dtypes).has_value()) {
    return;
  }
  const auto add = [&](InputClass input_class, DType type, cases::Tier tier) {
    cases->push_back(Derived(c, {input_class, type}, *own, tier));
  };
  add(InputClass::kOfficial, *own, kSmoke);
  add(InputClass::kRedrawn, *own, kCi);
  if (IsExact(*op)) add(InputClass::kExact, *own, kCi);
  if (HasKinks(*op)) add(InputClass::kKinks, *own, kCi);
  if (*own != DType::kFloat32 || ComputesInFloat32(*op)) return;
  for (const DType type :
       {DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    if (!Permits(*op, type)) continue;
    add(InputClass::kRedrawn, type, kCi);
    add(InputClass::kOfficial, type, kNightly);
    if (IsExact(*op)) add(InputClass::kExact, type, kNightly);
    if (HasKinks(*op)) add(InputClass::kKinks, type, kNightly);
  }
}

}  // namespace

std::vector<cases::TestCase> GradientCases(
    std::span<const cases::Corpus> corpora) {
  std::vector<cases::TestCase> cases;
  for (const cases::Corpus& corpus : corpora) {
    for (const cases::TestCase& c : corpus.cases) {
      if (c.suite != kSource || c.kind != "node") continue;
      Derive(c, &cases);
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
  return StrCat(kSource, own.substr(kSuite.size()));
}

}  // namespace assay::gradcheck
