// SPDX-License-Identifier: Apache-2.0

#include "conformance/redrawn/case.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include "framework/core/text.h"
#include "framework/graph/operator.h"
#include "framework/testing/draw/draw.h"
#include "framework/testing/measure/recheck.h"
#include "framework/testing/record/outcome.h"

namespace assay::redrawn {
namespace {

/// A case, with its function body, and the reason.
struct Line {
  std::string_view test_id;
  std::string_view because;
};

constexpr std::string_view kAlike = "its elements are all alike";
constexpr std::string_view kBits = "the bits of an exact number are no value";
constexpr std::string_view kDoubt = "the greatest sample is in doubt";
constexpr std::string_view kEmpty = "its sequence is empty";
constexpr std::string_view kLength = "its length alone is read";
constexpr std::string_view kNoNan = "its type has no NaN to cast one to";

constexpr auto kLines = std::to_array<Line>({
    {"node/BitCast/test_bitcast_2d_float32_to_int32", kBits},
    {"node/BitCast/test_bitcast_float32_to_int32", kBits},
    {"node/BitCast/test_bitcast_float64_to_int64", kBits},
    {"node/BitCast/test_bitcast_int32_to_float32", kBits},
    {"node/BitCast/test_bitcast_int64_to_float64", kBits},
    {"node/BitCast/test_bitcast_scalar_float32_to_int32", kBits},
    {"node/Cast/test_cast_FLOAT16_to_FLOAT4E2M1", kNoNan},
    {"node/Cast/test_cast_FLOAT_to_FLOAT4E2M1", kNoNan},
    {"node/CastLike/test_castlike_FLOAT16_to_FLOAT4E2M1", kNoNan},
    {"node/CastLike/test_castlike_FLOAT_to_FLOAT4E2M1", kNoNan},
    {"model/simple/test_sequence_model8", kLength},
    {"node/Clip/test_clip_default_int8_inbounds", kAlike},
    {"node/Loop/test_loop13_seq", kEmpty},
    {"node/RoiAlign/test_roialign_mode_max", kDoubt},
    {"node/StringConcat/test_string_concat_zero_dimensional", kAlike},
    {"node/StringNormalizer/test_strnormalizer_export_monday_empty_output",
     kAlike},
    {"node/TopK/test_top_k_same_values", kAlike},
    {"node/TopK/test_top_k_same_values_largest", kAlike},
    {"node/Unique/test_unique_length_1", kAlike},
});

std::string LeftOut(const cases::TestCase& test_case) {
  if (test_case.op == "light") return "its model is too great for an oracle";
  const std::string_view own = cases::CaseOfTwin(test_case.test_id);
  for (const Line& line : kLines) {
    if (line.test_id == own) return std::string(line.because);
  }
  return "";
}

constexpr std::string_view kSuite = "redrawn";
constexpr std::string_view kNode = "node";
constexpr std::string_view kModel = "model";

bool IsSource(const cases::TestCase& c) {
  return c.suite == kNode || c.suite == kModel;
}

/// The operator of a case of one node, or of its function body.
std::optional<OperatorId> OperatorOf(const cases::TestCase& c) {
  const std::string_view name = c.op;
  return FindOperator(c.domain == "ai.onnx" ? "" : c.domain,
                      name.substr(name.rfind('.') + 1));
}

/// True where some input may be another. Omitted inputs are not counted, so
/// that a place may be one too early.
bool HasInputToDraw(const cases::TestCase& c) {
  const auto carries = [](const std::string& dtype) {
    const auto type = ParseDType(dtype);
    return type.has_value() && draw::Carries(*type);
  };
  const auto op = OperatorOf(c);
  if (c.suite == kModel || !op.has_value()) {
    return std::ranges::any_of(c.input_dtypes, carries);
  }
  const auto& formals = types::SignatureOf(*op).inputs;
  for (size_t i = 0; i < c.input_dtypes.size(); ++i) {
    const auto* const formal = types::FormalAt(formals, i);
    if (formal != nullptr && draw::IsDrawn(draw::KindOf(*op, *formal))) {
      return true;
    }
  }
  return false;
}

cases::TestCase Derived(const cases::TestCase& source) {
  cases::TestCase c = source;
  c.test_id = StrCat(kSuite, source.test_id.substr(source.test_id.find('/')));
  c.corpus = c.suite = kSuite;
  c.tier = cases::Tier::kCi;
  c.n_data_sets = 1;
  c.sensitive.clear();
  c.drawn = true;
  return c;
}

/// Every second draw of a few booleans or strings may equal the values of the
/// case.
constexpr int kDraws = 64;

using Answers = std::vector<measure::ExactAnswer>;

/// Counts the ways in which inputs were drawn and answers asked for.
constexpr int kForm = 1;

std::string NameOf(const record::PlanRow& row, const record::RunFacts& facts) {
  return StrCat("redrawn/", kForm, " ", row.test_id, " seed ", facts.seed);
}

Result<Answers> Outputs(ExactRun& run, const suite::Subject& subject,
                        const suite::Question& evaluation) {
  ASSAY_ASSIGN_OR_RETURN(Answers answers, evaluation.ask(run, subject));
  auto hard = run.EvaluateUnits(UnitKind::kHard);
  for (size_t i = 0; hard.ok() && i < hard->size(); ++i) {
    if (i < answers.size()) answers[i].hard_units = std::move((*hard)[i]);
  }
  return answers;
}

std::string UnstatedName(const record::PlanRow& row) {
  return StrCat("unstated/", kForm, " ", suite::EvaluationOf(row).name);
}

}  // namespace

std::string WhyNot(const cases::TestCase& test_case) {
  if (!IsSource(test_case)) return "";
  if (test_case.limit.comparator == record::Comparator::kDistribution) {
    return "its outputs are drawn at random";
  }
  if (!test_case.vacuous.empty()) return "its outputs hang on no input";
  if (!HasInputToDraw(test_case))
    return "its inputs are settings or are not read";
  return LeftOut(test_case);
}

std::vector<cases::TestCase> RedrawnCases(
    std::span<const cases::Corpus> corpora) {
  std::vector<cases::TestCase> cases;
  for (const cases::Corpus& corpus : corpora) {
    for (const cases::TestCase& c : corpus.cases) {
      if (IsSource(c) && WhyNot(c).empty()) cases.push_back(Derived(c));
    }
  }
  return cases;
}

std::string SourceOf(std::string_view test_id) {
  if (!test_id.starts_with(StrCat(kSuite, "/"))) return std::string(test_id);
  const std::string_view own = test_id.substr(kSuite.size());
  // "light" is a group of models, "Relu" and "ml.Scaler" are operators.
  const std::string_view op = own.substr(1, own.find('/', 1) - 1);
  const char first = op.substr(op.rfind('.') + 1).front();
  return StrCat(first >= 'a' && first <= 'z' ? kModel : kNode, own);
}

draw::InputKinds KindsOf(const record::PlanRow& row, const Model& model) {
  const std::string_view id = row.test_id;
  const std::string_view own = cases::CaseOfTwin(id);
  if (own == id) return draw::KindsOf(model.graph());
  const auto folder = std::filesystem::path(row.directory).parent_path();
  const auto whole =
      Model::Read(folder / own.substr(own.rfind('/') + 1) / "model.onnx");
  if (!whole.ok()) return draw::KindsOf(model.graph());
  const Graph& node = (*whole)->graph();
  const draw::InputKinds of_node = draw::KindsOf(node);
  draw::InputKinds kinds;
  const auto& inputs = model.graph().inputs;
  for (size_t i = 0; i < inputs.size() && i < node.inputs.size(); ++i) {
    kinds[model.graph()[inputs[i]].name] =
        of_node.at(node[node.inputs[i]].name);
  }
  return kinds;
}

Result<suite::Subject> SubjectOf(const record::PlanRow& row,
                                 const record::RunFacts& facts) {
  ASSAY_ASSIGN_OR_RETURN(auto made, suite::SubjectInFiles(row));
  if (made.has_value()) return *std::move(made);
  ASSAY_ASSIGN_OR_RETURN(auto data, cases::ReadCaseInputs(row.directory, 1));
  const std::vector<Value>& own = data.sets.at(0).inputs;
  const draw::InputKinds kinds = KindsOf(row, *data.model);
  draw::Draw draw(row.test_id, facts.seed, "inputs");
  for (int i = 0; i < kDraws; ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        std::vector<Value> inputs,
        draw::DrawnInputs(data.model->graph(), kinds, own, draw));
    if (std::ranges::equal(inputs, own, measure::SameBits)) continue;
    return suite::Subject{std::move(data.model), {std::move(inputs)}, {}};
  }
  return Unsupported(Reason::kValue, "no input of ", row.test_id,
                     " can be another");
}

std::vector<suite::Question> AskedAs(std::string name,
                                     const record::PlanRow& row) {
  return {{std::move(name), [evaluation = suite::EvaluationOf(row)](
                                ExactRun& run, const suite::Subject& subject) {
             return Outputs(run, subject, evaluation);
           }}};
}

Result<Answers> ReadNamed(const record::PlanRow& row, size_t data_set,
                          const std::string& name) {
  ASSAY_RETURN_IF_ERROR(suite::CheckAnswered(row, Reason::kValue));
  ASSAY_ASSIGN_OR_RETURN(
      measure::ExactAnswers lists,
      measure::ReadAnswers(measure::AnswersFile(row.oracle, data_set)));
  const auto list = lists.find(name);
  if (list != lists.end()) return std::move(list->second);
  return DataLoss(row.oracle, ": found no answers to ", row.test_id);
}

std::vector<suite::Question> QuestionsOf(const record::PlanRow& row,
                                         const record::RunFacts& facts) {
  return AskedAs(NameOf(row, facts), row);
}

Result<Answers> ReadAnswers(const record::PlanRow& row,
                            const record::RunFacts& facts) {
  return ReadNamed(row, 0, NameOf(row, facts));
}

std::vector<suite::Question> UnstatedQuestions(const record::PlanRow& row,
                                               const record::RunFacts&) {
  return AskedAs(UnstatedName(row), row);
}

Result<Answers> ReadUnstated(const record::PlanRow& row, size_t data_set) {
  return ReadNamed(row, data_set, UnstatedName(row));
}

}  // namespace assay::redrawn
