// SPDX-License-Identifier: Apache-2.0
//
// ProcessState: what a backend must leave as it found it.
//
//   const ProcessState before = ProcessState::Capture();
//   RunVendorCode();
//   if (std::string what = before.Restore(); !what.empty()) Report(what);

#ifndef ASSAY_TESTING_PROCESS_STATE_H_
#define ASSAY_TESTING_PROCESS_STATE_H_

#include <csignal>
#include <string>

namespace assay::inline v1 {

class ProcessState {
 public:
  /// Rounding mode, locale, working directory and this thread's signal mask.
  static ProcessState Capture();

  /// Puts back what differs now and names it, as "rounding mode, locale";
  /// empty when nothing differed.
  std::string Restore() const;

 private:
  int rounding_ = 0;
  std::string locale_;
  std::string directory_;
  sigset_t signals_ = {};
};

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_PROCESS_STATE_H_
