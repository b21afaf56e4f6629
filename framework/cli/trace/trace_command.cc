// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>

#include "framework/cli/commands.h"
#include "framework/cli/repro/capsule.h"
#include "framework/cli/run/finish.h"
#include "framework/cli/select/terminal.h"
#include "framework/cli/trace/trace.h"
#include "framework/cli/trace/trace_text.h"
#include "framework/core/text.h"
#include "framework/file/file.h"
#include "framework/supervise/crew.h"
#include "framework/testing/plan/resolve.h"
#include "framework/testing/record/outcome.h"
#include "framework/testing/suite/suite.h"

namespace assay::trace {
namespace {

namespace fs = std::filesystem;

Result<repro::Draft> DraftOf(const cli::TraceOptions& options,
                             const select::ChosenCase& chosen) {
  record::RunFacts facts;
  facts.seed = chosen.seed;
  Result<suite::Subject> subject = suite::SubjectOf(chosen.row, facts);
  if (!subject.ok()) return InvalidArgument(subject.status().message());
  if (options.data_set >= std::ssize(subject->inputs)) {
    return InvalidArgument("found --data-set ", options.data_set, ", wanted 0 ",
                           "to ", std::ssize(subject->inputs) - 1, " of ",
                           chosen.row.test_id);
  }
  return repro::Draft{
      subject->model,
      std::move(subject->inputs[static_cast<size_t>(options.data_set)]),
      {},
      {}};
}

/// Fills the folder; says where the picture or the capsule is not there.
Status Write(const cli::TraceOptions& options, const Tracer& tracer,
             const Trace& trace, supervise::WorkFolder& work,
             std::ostream& out) {
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(options.out));
  const fs::path table = options.out / "trace.csv";
  ASSAY_RETURN_IF_ERROR(file::WriteFile(table, CsvOf(trace)));
  const fs::path picture = options.out / "trace.svg";
  const Status drawn =
      run::Report({"trace", table.string(), "--out", picture.string()});
  out << "written to " << options.out.string() << ": trace.csv"
      << (drawn.ok() ? ", trace.svg" : "") << "\n";
  if (!drawn.ok()) out << select::Wrapped("No picture: " + drawn.message());
  const TracedNode* const first = trace.FirstWrong();
  if (first == nullptr) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(repro::CapsuleContent content,
                         tracer.Alone(*first, work.Next()));
  content.oracle = options.oracle;
  const fs::path capsule = options.out / "capsule";
  ASSAY_ASSIGN_OR_RETURN(const record::ResultRow alone,
                         repro::WriteCapsule(content, capsule));
  out << select::Wrapped(
      StrCat("The node alone is ", capsule.string(), ": ", alone.outcome,
             alone.outcome == record::Outcome::kPass
                 ? ", so that it goes wrong beside its neighbours only"
                 : "",
             ". Its README.txt says how to run it."));
  return OkStatus();
}

Result<int> TraceOne(cli::TraceOptions options) {
  std::error_code error;
  if (!options.out.empty() && fs::exists(options.out, error) &&
      !fs::is_empty(options.out, error)) {
    return InvalidArgument(options.out.string(),
                           " holds something already, wanted a new folder");
  }
  ASSAY_ASSIGN_OR_RETURN(supervise::WorkFolder work,
                         supervise::WorkFolder::Make());
  options.made = work.Next();
  ASSAY_ASSIGN_OR_RETURN(const select::ChosenCase chosen,
                         select::Choose(options));
  ASSAY_ASSIGN_OR_RETURN(const repro::Draft draft, DraftOf(options, chosen));
  ASSAY_ASSIGN_OR_RETURN(const plan::PlannedBackend oracle,
                         plan::ResolveBackend(options.oracle, *chosen.digests));
  Tracer tracer(chosen, plan::UseOf(oracle), &work);
  ASSAY_ASSIGN_OR_RETURN(const Trace trace, tracer.Run(draft));
  std::ostream& out = run::OutputFor(options.json);
  out << select::Wrapped(StrCat(chosen.test_case.test_id, " on ",
                                chosen.backend.instance,
                                ", errors in limits of the node:"))
      << TextOf(trace);
  if (options.json) std::cout << JsonOf(chosen, trace);
  if (!options.out.empty()) {
    ASSAY_RETURN_IF_ERROR(Write(options, tracer, trace, work, out));
  }
  const bool is_judged = trace.Count("undecided") < std::ssize(trace.nodes);
  return trace.FirstWrong() == nullptr && is_judged ? select::kExitOk
                                                    : select::kExitUnexpected;
}

}  // namespace

int TraceCommand(const cli::TraceOptions& options) {
  supervise::InstallStopHandlers();
  return select::ExitCodeOf(TraceOne(options));
}

}  // namespace assay::trace
