// SPDX-License-Identifier: Apache-2.0

#include "framework/train/program/trainer_request.h"

#include <utility>
#include <vector>

namespace assay::program {
namespace {

using record::Column;
using record::ColumnOf;

constexpr char kParent[] = "process to die with; none if 0";

/// The form of a request about two runs, with fields of its own.
template <class Row>
request::Form PairForm(std::string_view kind, std::vector<Column> more) {
  std::vector<Column> fields = {
      ASSAY_COLUMN(a, "the first run"),
      ASSAY_COLUMN(a_module, "file of its backend"),
      ASSAY_COLUMN(b, "the second run"),
      ASSAY_COLUMN(b_module, "file of its backend"),
      ASSAY_COLUMN(oracle, "backend that judges"),
      ASSAY_COLUMN(oracle_module, "its file"),
      ASSAY_COLUMN(model, "by name, or FILE.onnx"),
      ASSAY_COLUMN(dataset, "by name"),
      ASSAY_COLUMN(steps, "of both"),
      ASSAY_COLUMN(batch, "samples a step"),
      ASSAY_COLUMN(seed, "of weights, data and order"),
      ASSAY_COLUMN(parent, kParent)};
  fields.insert(fields.end(), more.begin(), more.end());
  return {{kind, std::move(fields)},
          {"a", "a_module", "b", "b_module", "oracle", "oracle_module"}};
}

}  // namespace

const request::Form& TrainRequest::form() {
  using Row = TrainRequest;
  static const request::Form form = {
      {"train",
       {ASSAY_COLUMN(run, "backend and optimizer"),
        ASSAY_COLUMN(module, "file of the backend"),
        ASSAY_COLUMN(model, "by name, or FILE.onnx"),
        ASSAY_COLUMN(dataset, "by name"), ASSAY_COLUMN(batch, "samples a step"),
        ASSAY_COLUMN(micro_batch, "samples at once; a batch if 0"),
        ASSAY_COLUMN(seed, "of weights, split and order"),
        ASSAY_COLUMN(epochs, "of the whole run"),
        ASSAY_COLUMN(checkpoint_every, "steps"),
        ASSAY_COLUMN(stop_at, "accuracy, 0 to 1; none if 0"),
        ASSAY_COLUMN(seconds, "that the run may take; any if 0"),
        ASSAY_COLUMN(out, "folder of the run"),
        ASSAY_COLUMN(goes_on, "1: from the checkpoint there"),
        ASSAY_COLUMN(parent, kParent)}},
      {"run", "module"}};
  return form;
}

const request::Form& OptDiffRequest::form() {
  using Row = OptDiffRequest;
  static const request::Form form = PairForm<Row>(
      "optdiff", {ASSAY_COLUMN(table, "optimizer_steps.csv to write")});
  return form;
}

const request::Form& BisectRequest::form() {
  using Row = BisectRequest;
  static const request::Form form = PairForm<Row>(
      "bisect", {ASSAY_COLUMN(weights_seed_b, "of the second run, if another"),
                 ASSAY_COLUMN(order_seed_b, "of the second run, if another")});
  return form;
}

const request::Form& ConvergeRequest::form() {
  using Row = ConvergeRequest;
  static const request::Form form = {
      {"converge",
       {ASSAY_COLUMN(a, "the first run"),
        ASSAY_COLUMN(a_module, "file of its backend"),
        ASSAY_COLUMN(b, "the second run, if any"),
        ASSAY_COLUMN(b_module, "file of its backend"),
        ASSAY_COLUMN(against, "table of another run"),
        ASSAY_COLUMN(table, "to write"), ASSAY_COLUMN(model, "by name"),
        ASSAY_COLUMN(dataset, "by name"), ASSAY_COLUMN(accuracy, "to come to"),
        ASSAY_COLUMN(batch, "samples a step"),
        ASSAY_COLUMN(every, "steps between tests"),
        ASSAY_COLUMN(most_epochs, "to give up after"),
        ASSAY_COLUMN(seeds, "of each run"), ASSAY_COLUMN(parent, kParent)}},
      {"a", "a_module"}};
  return form;
}

}  // namespace assay::program
