// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/request/worker_request.h"

namespace assay::request {

// A field that is one of the facts. Settings follow from the instance.
#define ASSAY_FACT(name, doc) \
  ColumnOf<Row, &Row::facts, &record::RunFacts::name>(#name, doc)

const Form& WorkerRequest::form() {
  using Row = WorkerRequest;
  using record::ColumnOf;
  static const Form form = {
      {"worker",
       {ASSAY_COLUMN(backend, "instance to test"),
        ASSAY_COLUMN(module, "its file; the one of its name if empty"),
        ASSAY_COLUMN(carrier,
                     "file of the library whose ranks run its networks"),
        ASSAY_COLUMN(batch, "file of cases: plan.csv, or a part of one"),
        ASSAY_COLUMN(journal, "file for the records; none if empty"),
        ASSAY_FACT(run_id, "of the records"),
        ASSAY_FACT(seed, "of everything random"),
        ASSAY_FACT(attempt, "of the records"),
        ASSAY_FACT(started_us, "steady clock at the start of the run"),
        ASSAY_FACT(case_limit_s, "seconds that the supervisor gives one case"),
        ASSAY_FACT(suite, "that runs all cases; each case's own if empty"),
        ASSAY_FACT(oracle, "backend that judges where a suite needs one"),
        ASSAY_FACT(oracle_module, "its file"),
        ASSAY_FACT(output, "folder for files that a suite makes"),
        ASSAY_FACT(scratch, "folder that all ranks have"),
        ASSAY_COLUMN(parent, "process to die with; none if 0"),
        ASSAY_COLUMN(rank_variable,
                     "variable that tells which of the launched ranks it is"),
        ASSAY_COLUMN(cases_per_process, "after which another process goes on"),
        ASSAY_COLUMN(in_process,
                     "1: the backend is loaded into this process, as without a "
                     "journal"),
        ColumnOf<Row, &Row::walls, &walls::Walls::hidden>(
            "hide", "folders that the backend must not see"),
        ColumnOf<Row, &Row::walls, &walls::Walls::kept>(
            "keep", "folders that the backend must not change")}},
      {"backend", "batch"}};
  return form;
}

}  // namespace assay::request
