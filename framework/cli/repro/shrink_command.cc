// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <iostream>

#include "framework/cli/commands.h"
#include "framework/cli/repro/capsule.h"
#include "framework/cli/repro/shrink.h"
#include "framework/cli/select/wrapped_text.h"
#include "framework/supervise/crew.h"
#include "framework/testing/case/plain_corpus_case.h"
#include "framework/testing/case/write_corpus.h"
#include "framework/testing/file/file.h"

namespace assay::repro {
namespace {

namespace fs = std::filesystem;

void Say(const std::string& line) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  std::cout << select::Wrapped(line.substr(indent), {.indent = indent})
            << std::flush;
}

/// The backend whose word is taken, as a run of the same case would use it.
Result<plan::BackendUse> Oracle(const cli::ShrinkOptions& options,
                                const select::ChosenCase& chosen) {
  if (options.oracle == chosen.backend.instance) {
    return InvalidArgument("the oracle is ", options.oracle,
                           " itself, wanted another backend as --oracle");
  }
  select::CaseOptions asked = options;
  asked.backend = options.oracle;
  asked.run.clear();
  asked.corpora = {chosen.corpus_directory};
  ASSAY_ASSIGN_OR_RETURN(select::ChosenCase oracle, select::Choose(asked));
  return std::move(oracle.backend);
}

/// Refuses a case that does not fail: there is nothing to shrink.
Status CheckWanted(const select::ChosenCase& chosen,
                   const record::ResultRow& result) {
  const record::Outcome outcome = result.outcome;
  if (outcome != record::Outcome::kPass &&
      outcome != record::Outcome::kUnavailable) {
    return OkStatus();
  }
  std::string message = StrCat(result.test_id, " on ", chosen.backend.instance,
                               " is ", result.outcome, " when it runs alone");
  if (chosen.in_run.has_value() && chosen.in_run->outcome != result.outcome) {
    message += StrCat(", though ", chosen.in_run->outcome, " in the run");
  }
  return InvalidArgument(message, ": nothing to shrink");
}

std::string SizeText(const Draft& draft) {
  return StrCat(NodeCount(draft),
                NodeCount(draft) == 1 ? " node, " : " nodes, ",
                ElementCount(draft), " elements");
}

/// suite/op/case#shrunk: what is left decides the first two.
std::string ShrunkId(const cases::TestCase& from, const cases::TestCase& to) {
  std::string name = from.test_id.substr(from.test_id.rfind('/') + 1);
  std::ranges::replace(name, '#', '-');
  return StrCat(to.suite, "/", to.op, "/", name, "#shrunk");
}

/// The draft as a case, its files in `folder`.
Result<CapsuleContent> ContentOf(const select::ChosenCase& chosen,
                                 const Draft& draft, const cases::Limit& limit,
                                 const fs::path& folder) {
  auto data = std::make_shared<const cases::CaseData>(
      cases::CaseData{draft.model, {{draft.inputs, draft.expected}}});
  ASSAY_RETURN_IF_ERROR(cases::WriteCaseFiles(folder, *data));
  CapsuleContent content{chosen, std::move(data), {}};
  select::ChosenCase& small = content.chosen;
  small.test_case = cases::DescribeFolder(folder, 1);
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
  if (chosen.test_case.limit.comparator == record::Comparator::kDistribution) {
    return InvalidArgument(chosen.test_case.test_id,
                           " is judged by its distribution: one smaller has "
                           "less to be judged by");
  }
  ASSAY_ASSIGN_OR_RETURN(const cases::CaseData data,
                         select::DataOf(chosen.test_case));
  ASSAY_ASSIGN_OR_RETURN(plan::BackendUse oracle, Oracle(options, chosen));
  ASSAY_ASSIGN_OR_RETURN(supervise::WorkFolder work,
                         supervise::WorkFolder::Make());
  ShrinkJudge judge(chosen, std::move(oracle), &work, options.budget, Say);
  ASSAY_ASSIGN_OR_RETURN(const record::ResultRow result, judge.RunCase());
  ASSAY_RETURN_IF_ERROR(CheckWanted(chosen, result));
  Say(StrCat(result.test_id, " on ", chosen.backend.instance, ": ",
             result.outcome, " (", result.reason_code, "), ", result.message));
  judge.Want(result);
  ASSAY_ASSIGN_OR_RETURN(const Draft before, FirstDraft(data, judge));
  ASSAY_ASSIGN_OR_RETURN(const Draft after, Shrink(before, judge));
  ASSAY_ASSIGN_OR_RETURN(CapsuleContent content,
                         ContentOf(chosen, after, judge.limit(), work.Next()));
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
  const Status status = ShrinkOne(options);
  return status.ok() ? select::kExitOk : select::Fail(status);
}

}  // namespace assay::repro
