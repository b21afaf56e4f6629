// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iostream>

#include "framework/cli/commands.h"
#include "framework/cli/repro/capsule.h"
#include "framework/cli/repro/shrink.h"
#include "framework/cli/repro/shrink_named.h"
#include "framework/cli/select/terminal.h"
#include "framework/supervise/crew.h"
#include "framework/testing/case/corpus_files.h"
#include "framework/testing/case/plain_corpus_case.h"
#include "framework/testing/plan/resolve.h"
#include "framework/testing/record/record.h"
#include "framework/testing/suite/suite.h"

namespace assay::repro {
namespace {

namespace fs = std::filesystem;

void Say(const std::string& line) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  std::cout << select::Wrapped(line.substr(indent), {.indent = indent})
            << std::flush;
}

/// The backend whose word is taken.
Result<plan::BackendUse> Oracle(const cli::ShrinkOptions& options,
                                const select::ChosenCase& chosen) {
  // Exact answers are computed in another way than what is judged by them.
  if (options.oracle == chosen.backend.instance &&
      !suite::NeedsAnswers(chosen.row)) {
    return InvalidArgument("the oracle is ", options.oracle,
                           " itself, wanted another backend as --oracle");
  }
  ASSAY_ASSIGN_OR_RETURN(const plan::PlannedBackend oracle,
                         plan::ResolveBackend(options.oracle, *chosen.digests));
  return plan::UseOf(oracle);
}

std::string SizeText(const Draft& draft) {
  std::string text =
      StrCat(NodeCount(draft), NodeCount(draft) == 1 ? " node, " : " nodes, ",
             ElementCount(draft), " elements");
  if (draft.targets.empty()) return text;
  const Graph& graph = draft.model->graph();
  size_t attributes = 0;
  for (const Node& node : graph.nodes) attributes += node.attributes.size();
  const auto count = [](size_t n, const char* what) {
    return StrCat(", ", n, " ", what, n == 1 ? "" : "s");
  };
  return StrCat(text, count(attributes, "attribute"),
                count(graph.outputs.size(), "output"),
                count(draft.targets.size(), "target"));
}

/// The drafts that a case begins with: one for each data set, or what its suite
/// makes.
Result<std::vector<Draft>> DraftsOf(const select::ChosenCase& chosen) {
  std::vector<Draft> drafts;
  if (ByAnswers(chosen.row)) {
    record::RunFacts facts;
    facts.seed = chosen.seed;
    ASSAY_ASSIGN_OR_RETURN(const suite::Subject subject,
                           suite::SubjectOf(chosen.row, facts));
    if (subject.targets.empty()) {
      return InvalidArgument(chosen.test_case.test_id,
                             " has no derivatives to be made smaller");
    }
    drafts.push_back(
        {subject.model, subject.inputs.at(0), {}, subject.targets});
    return drafts;
  }
  ASSAY_ASSIGN_OR_RETURN(const cases::CaseData data,
                         select::DataOf(chosen.test_case));
  for (const cases::DataSet& set : data.sets) {
    drafts.push_back({data.model, set.inputs, {}, {}});
  }
  return drafts;
}

/// suite/op/case#shrunk: what is left decides the first two.
std::string ShrunkId(const cases::TestCase& from, const cases::TestCase& to) {
  std::string name = from.test_id.substr(from.test_id.rfind('/') + 1);
  std::ranges::replace(name, '#', '-');
  return StrCat(to.suite, "/", to.op, "/", name, "#shrunk");
}

/// A smaller case of the same suite, its files in `folder`.
Result<CapsuleContent> SubjectContentOf(const select::ChosenCase& chosen,
                                        const Draft& draft,
                                        const std::string& test_id,
                                        const fs::path& folder) {
  auto subject = std::make_shared<const suite::Subject>(
      suite::Subject{draft.model, {draft.inputs}, draft.targets});
  ASSAY_RETURN_IF_ERROR(WriteSubject(folder, *subject));
  CapsuleContent content{chosen, nullptr, std::move(subject)};
  select::ChosenCase& small = content.chosen;
  small.test_case = cases::DescribeFolder(folder, 1).test_case;
  small.test_case.test_id = test_id;
  small.test_case.suite = chosen.test_case.suite;
  small.test_case.op = chosen.test_case.op;
  small.test_case.kind = chosen.test_case.kind;
  small.test_case.claim = chosen.test_case.claim;
  small.test_case.tier = chosen.test_case.tier;
  small.test_case.limit = chosen.test_case.limit;
  small.test_case.vacuous.clear();
  small.in_run.reset();
  small.row.test_id = test_id;
  small.row.expected.reset();
  return content;
}

/// The draft as a case, its files in `folder`.
Result<CapsuleContent> ContentOf(const select::ChosenCase& chosen,
                                 const Draft& draft, const cases::Limit& limit,
                                 const fs::path& folder) {
  auto data = std::make_shared<const cases::CaseData>(
      cases::CaseData{draft.model, {{draft.inputs, draft.expected}}});
  ASSAY_RETURN_IF_ERROR(cases::WriteCaseFiles(folder, *data));
  CapsuleContent content{chosen, std::move(data), nullptr};
  select::ChosenCase& small = content.chosen;
  small.test_case = cases::DescribeFolder(folder, 1).test_case;
  if (small.test_case.suite == "model") {
    small.test_case.op = cases::IdPart(chosen.test_case.op);
  }
  small.test_case.test_id = ShrunkId(chosen.test_case, small.test_case);
  small.test_case.limit = limit;
  small.in_run.reset();
  record::PlanRow& row = small.row;
  row.test_id = small.test_case.test_id;
  row.suite = small.test_case.suite;
  row.kind = small.test_case.kind;
  row.comparator = limit.comparator;
  row.rtol = limit.rtol;
  row.atol = limit.atol;
  row.limit_source = limit.source;
  row.vacuous = small.test_case.vacuous;
  row.n_data_sets = 1;
  row.expected.reset();  // a line about the case need not match what is left
  return content;
}

Status ShrinkOne(const cli::ShrinkOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const select::ChosenCase chosen,
                         select::Choose(options));
  if (const suite::Suite* const suite = suite::SuiteOf(chosen.row);
      suite != nullptr && suite->sizing.named != nullptr) {
    return ShrinkByName(options, chosen, suite->sizing, Say);
  }
  const bool by_answers = ByAnswers(chosen.row);
  if (!by_answers &&
      chosen.test_case.limit.comparator == record::Comparator::kDistribution) {
    return InvalidArgument(chosen.test_case.test_id,
                           " is judged by its distribution: one smaller has "
                           "less to be judged by");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Draft> drafts, DraftsOf(chosen));
  ASSAY_ASSIGN_OR_RETURN(plan::BackendUse oracle, Oracle(options, chosen));
  ASSAY_ASSIGN_OR_RETURN(supervise::WorkFolder work,
                         supervise::WorkFolder::Make());
  ShrinkJudge judge(chosen, std::move(oracle), &work, options.budget, Say);
  ASSAY_ASSIGN_OR_RETURN(const record::ResultRow result, judge.RunCase());
  ASSAY_RETURN_IF_ERROR(CheckFails(chosen, result));
  Say(StrCat(result.test_id, " on ", chosen.backend.instance, ": ",
             result.outcome, " (", result.reason_code, "), ", result.message));
  judge.Want(result);
  ASSAY_ASSIGN_OR_RETURN(const Draft before, FirstDraft(drafts, judge));
  ASSAY_ASSIGN_OR_RETURN(const Draft after, Shrink(before, judge));
  ASSAY_ASSIGN_OR_RETURN(
      CapsuleContent content,
      by_answers
          ? SubjectContentOf(chosen, after, judge.ShrunkId(), work.Next())
          : ContentOf(chosen, after, judge.limit(), work.Next()));
  content.oracle = options.oracle;
  content.history = {{"shrunk from", chosen.test_case.test_id},
                     {"before", SizeText(before)},
                     {"after", SizeText(after)},
                     {"right by", options.oracle}};
  ASSAY_ASSIGN_OR_RETURN(const record::ResultRow last,
                         WriteCapsule(content, options.out));
  Say(StrCat("before: ", SizeText(before)));
  Say(StrCat("after:  ", SizeText(after), ", after ", judge.tried(), " tries"));
  Say(StrCat(last.test_id, ": ", last.outcome, ", ", last.message));
  Say(StrCat("written to ", options.out.string(),
             "; its README.txt says how to run it"));
  return OkStatus();
}

}  // namespace

int ShrinkCommand(const cli::ShrinkOptions& options) {
  supervise::InstallStopHandlers();
  return select::ExitCodeOf(ShrinkOne(options));
}

}  // namespace assay::repro
