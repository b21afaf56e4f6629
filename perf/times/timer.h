// SPDX-License-Identifier: Apache-2.0
//
// Timer: the phases of one network, timed beside its code, with other inputs
// for each sample, and outputs that are judged now and then.
//
//   Timer timer(std::move(fresh), std::move(judged), budget_ns, seed);
//   ASSAY_RETURN_IF_ERROR(timer.Bind(*network, {}));
//   ASSAY_ASSIGN_OR_RETURN(const Phase warm, timer.Warm());
//   ASSAY_ASSIGN_OR_RETURN(const std::string forgery,
//                          timer.Forgery(call_ns, warm.samples.inner_iters));
//
// A network that keeps results of earlier calls finds none of them again, since
// no two samples that follow each other have the same inputs, and few have the
// same at all; outputs are cleared before a sample, so that what stands there
// was written in it. The samples whose outputs are judged are drawn, and look
// like any other. The last inputs that are judged were in no call before.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/numbers.h"
#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/testing/host/timed.h"
#include "framework/timing/sampler.h"
#include "perf/times/case.h"

namespace assay::times {

/// The samples of one phase.
struct Phase {
  std::string name;  // as in the table of times
  std::string cache_mode;
  timing::Samples samples;
};

/// The fault of outputs, in words; empty: none.
using JudgesOutputs = std::function<std::string(std::span<const Value>)>;

/// Inputs, and who knows the outputs there.
struct Judged {
  std::vector<Value> inputs;
  JudgesOutputs judge;
};

class Timer {
 public:
  /// One set of judged inputs at least. `budget_ns` is the wall time of all
  /// phases together.
  Timer(FreshInputs fresh, std::vector<Judged> judged, int64_t budget_ns,
        uint64_t seed);

  /// Binds memory of its own for the inputs, and for outputs like these where
  /// the network declares their shapes.
  Status Bind(Network& network, std::span<const Value> outputs);

  /// Load, create, first and destroy, of networks loaded so.
  Result<std::vector<Phase>> Lives(const host::LoadedAs& as);
  Result<Phase> Warm();
  /// Each sample is one call behind as many bytes that are written.
  Result<Phase> Cold(int64_t bytes);

  /// The nanoseconds that so many calls took, in a row, behind a call that is
  /// not counted.
  Result<double> Time(int64_t calls);

  /// The fault of some outputs that were judged; empty: none.
  const std::string& fault() const { return fault_; }
  int64_t n_judged() const { return n_judged_; }
  const timing::ClockCost& cost() const { return sampler_.cost(); }

  /// Why times are not to be believed, in words; empty: nothing says so.
  /// `call_ns` is what a call took in samples of so many calls. The host's
  /// times must be those of the clock here, of many calls as of few, and calls
  /// with the inputs of the one before as long as those with others. Outputs
  /// of the last inputs are judged, too (fault()).
  Result<std::string> Forgery(double call_ns, int64_t calls);

  /// The same, of times that cannot be, at which each method fails.
  const std::string& forged() const { return forged_; }

 private:
  /// How a sample is asked for.
  struct Ask {
    int64_t calls = 1;
    int64_t flushed = 0;
    bool primed = false;  // another sample, whose time is left out, before it
    bool may_judge = true;
  };
  /// The nanoseconds of the sample.
  Result<double> Sample(const Ask& ask);
  /// Samples, one for each of the runs. Judges that sample by that set.
  Result<std::vector<double>> TakeRuns(const Ask& ask,
                                       std::span<const std::vector<Value>> runs,
                                       int64_t watched = -1,
                                       const Judged* judged = nullptr);
  /// The set for the next sample; null: it is not judged.
  const Judged* DrawJudged();
  /// So many samples of one call each, none with the inputs of the one before,
  /// of which one is judged.
  Result<std::vector<double>> Singles(int64_t count, const Judged& judged);
  /// Fails where times of so many calls cannot be within that time here.
  Status CheckTimes(std::span<const std::chrono::nanoseconds> times,
                    int64_t calls, int64_t here_ns);
  Result<std::string> ClockFault(double call_ns);
  Result<std::string> ReplayFault(double call_ns, int64_t calls);
  /// The wall time of asking for so many calls, here, and what the host says.
  struct Both {
    double here_ns = 0;
    double there_ns = 0;
  };
  Result<Both> Shortest(int64_t calls);

  FreshInputs fresh_;
  std::vector<Judged> judged_;
  int64_t budget_ns_;
  core::Numbers numbers_;
  timing::Sampler sampler_;
  Network* network_ = nullptr;
  std::vector<Value> inputs_, outputs_;  // that are bound
  bool is_filled_ = false;               // inputs_, before each sample
  std::unique_ptr<Binding> binding_;
  double last_ns_ = 0;   // of the last sample of Time
  double asked_ns_ = 0;  // here, of the last ask
  int64_t n_asked_ = 0;
  int64_t n_judged_ = 0;
  int64_t judging_ns_ = 0;  // wall time
  std::string fault_, forged_;
};

}  // namespace assay::times
