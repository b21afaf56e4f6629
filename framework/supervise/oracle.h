// SPDX-License-Identifier: Apache-2.0
//
// Oracle: the client of a backend's Exact. It sees to it that exact answers to
// the cases of a plan lie in a folder, computing those that are missing in
// workers of their own, before any backend that is judged by them starts.
//
// A kept answer is one file for each data set, in a folder named by a digest of
// all that decides it: model and inputs, precision, the oracle's module, the
// core and the format. An answer that is torn or changed is computed again.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/supervise/options.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/record/rows.h"

namespace assay::supervise {

/// Checks that the backend is there and that a cache which was asked for can be
/// written to, before a run begins. Invalid argument, and resource exhausted.
Status CheckOracle(const std::string& instance,
                   const std::filesystem::path& cache,
                   const file::FileDigests& digests);

struct OracleReport {
  std::string instance;
  int64_t n_cases = 0;     // that an oracle can be asked about
  int64_t n_kept = 0;      // whose answers were there
  int64_t n_computed = 0;  // whose answers were computed now
  int64_t n_declined = 0;  // unsupported or unavailable
  std::vector<record::ResultRow>
      asked;  // what became of those that were not there
  /// Why the usual cache keeps nothing; empty where it does.
  std::string not_kept;

  /// "oracle reference: exact answers to 8 of 10 cases, 5 of them kept; 1
  /// declined, 1 lost".
  std::string Sentence() const;
};

/// Fills the column `oracle` of the plan's rows. `options` are those of the run
/// to come; journals and logs go to its directory's subfolder `oracle`. Cases
/// judged by distribution and those that are programs are not asked about; one
/// that the oracle declines or that ends its worker has no answers, and the
/// rest goes on. Where the usual cache cannot be written to, answers that are
/// missing go to the directory's subfolder `answers`. Invalid argument for an
/// instance that is not there; resource exhausted when a cache that was asked
/// for cannot be written to; cancelled as Supervise is.
Result<OracleReport> AskOracle(const std::string& instance,
                               const std::filesystem::path& cache,
                               const SuperviseOptions& options,
                               const std::vector<size_t>& rows,
                               plan::Plan* plan);

/// Tells the workers of a run which backend judges where a case needs one
/// beside it; nothing where none of these rows does. Invalid argument for an
/// instance that is not there.
Status UseOracle(const std::string& instance, const plan::Plan& plan,
                 const std::vector<size_t>& rows, SuperviseOptions* options);

/// Removes kept cases, those not used for the longest time first, until at most
/// so many bytes are left.
void TrimOracleCache(const std::filesystem::path& cache, int64_t most_bytes);

}  // namespace assay::supervise
