// SPDX-License-Identifier: Apache-2.0
//
// DistributedRow: a row of distributed.csv, one run of all ranks and its
// results.
//
//   DistributedRow row;
//   row.collective = "allreduce/ring";
//   record->Add(row);

#pragma once

#include <string>

#include "framework/testing/record/columns.h"

namespace assay::distributed {

struct DistributedRow : record::Key {
  std::string scheme, optimizer, collective, transport;
  int64_t ranks = 0;
  record::Integer root;
  std::string topology;
  record::Integer steps;
  std::string mode;
  record::Integer differing_bits;
  record::Number max_ulp;
  std::string hash;
  std::string determinism;
  record::Integer rank_agreement, bytes_sent, bytes_formula, messages,
      messages_formula, staleness_max, staleness_bound;
  record::Number consensus, contraction_err, loss_first, loss_last;
  record::Integer run_us;
  record::Number simulated_us;
  int64_t seed = 0;
};

}  // namespace assay::distributed

namespace assay {
template <>
const record::Table& record::TableOf<distributed::DistributedRow>();
}  // namespace assay
