// SPDX-License-Identifier: Apache-2.0

#include "conformance/redrawn/subject.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "framework/testing/case/test_case.h"
#include "framework/testing/case/test_id.h"
#include "framework/testing/draw/inputs.h"
#include "framework/testing/measure/recheck.h"

namespace assay::redrawn {
namespace {

/// Of few booleans or strings every second draw may be what the case has.
constexpr int kDraws = 64;

}  // namespace

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
  ASSAY_ASSIGN_OR_RETURN(std::optional<suite::Subject> made,
                         suite::SubjectInFiles(row));
  if (made.has_value()) return *std::move(made);
  ASSAY_ASSIGN_OR_RETURN(cases::CaseData data,
                         cases::ReadCaseInputs(row.directory, 1));
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

}  // namespace assay::redrawn
