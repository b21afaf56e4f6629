// SPDX-License-Identifier: Apache-2.0
//
// Timer: the phases of one network, timed beside its code, with other inputs
// for each sample, and outputs that are judged now and then.
//
//   Timer timer(std::move(fresh), std::move(judged), budget_ns, seed);
//   ASSAY_RETURN_IF_ERROR(timer.Bind(*network, {}));
//   ASSAY_ASSIGN_OR_RETURN(const Phase warm, timer.Warm());
//   ASSAY_ASSIGN_OR_RETURN(const Forgery forgery,
//                          timer.ForgeryOf(call_ns, warm.samples.inner_iters));
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
#include "framework/backend/network_interfaces.h"
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

/// Inputs, and who knows the outputs there. Where gradients are timed, the
/// cotangents stand behind the inputs, and the gradients for the outputs.
struct Judged {
  std::vector<Value> inputs;
  JudgesOutputs judge;
};

/// Gradients that are timed: those of `targets`, of the types and shapes of
/// `gradients`.
struct Backward {
  std::vector<std::string> targets;
  std::vector<Value> gradients;
  std::vector<bool> takes;                     // by output: it has a cotangent
  std::vector<std::vector<Value>> cotangents;  // by set of inputs; those alone
};

/// Why times are not to be believed, in words; empty: nothing says so.
struct Forgery {
  std::string why;
  bool may_be_noise = false;  // too few measurements agree, or contradict
};

class Timer {
 public:
  /// One set of judged inputs at least. `budget_ns` is the wall time of all
  /// phases together.
  Timer(FreshInputs fresh, std::vector<Judged> judged, int64_t budget_ns,
        uint64_t seed);

  /// Binds memory of its own for the inputs, and for outputs like these where
  /// the network declares their shapes. With `backward`, a call is RunBackward
  /// of its gradients from here on, behind a Forward that does not count, and
  /// the network is one that was loaded for them.
  Status Bind(Network& network, std::span<const Value> outputs,
              const Backward* backward = nullptr);
  bool is_backward() const { return gradients_ != nullptr; }
  /// Once more, without a backward: to memory at another place, which is drawn.
  Status BindElsewhere();
  /// Once more, to the memory of one that times the same case.
  Status BindBeside(const Timer& other);

  /// The fault of a first call at the first of the judged inputs.
  Result<std::string> FirstFault();

  /// Load, create, first and destroy, of networks loaded so.
  Result<std::vector<Phase>> Lives(const host::LoadedAs& as);
  /// The phase warm, or backward.
  Result<Phase> Warm();
  /// Each sample is one call behind as many bytes that are written.
  Result<Phase> Cold(int64_t bytes);

  /// Counts of a warm call, the mean of some, rounded up.
  Result<counts::Counts> CountWarm();
  /// Scenarios of a whole model, in the words of MLPerf Inference (V. Reddi et
  /// al., arXiv 1911.02549, table III): calls one behind the other, each with
  /// inputs of its own, and calls in a row whose inputs are all there before.
  /// `call_ns` is about what one takes. They take half the budget more.
  Result<Phase> SingleStream();
  Result<Phase> Offline(double call_ns);

  /// The nanoseconds that so many calls took, in a row, behind a call that is
  /// not counted.
  Result<double> Time(int64_t calls);

  /// The fault of some outputs that were judged; empty: none.
  const std::string& fault() const { return fault_; }
  int64_t n_judged() const { return n_judged_; }
  const timing::ClockCost& cost() const { return sampler_.cost(); }

  /// `call_ns` is what a call took in samples of so many calls. The host's
  /// times must be those of the clock here, of many calls as of few, and calls
  /// with the inputs of the one before as long as those with others. Outputs
  /// of the last inputs are judged, too (fault()).
  Result<Forgery> ForgeryOf(double call_ns, int64_t calls);

  /// The same, of times that cannot be, at which each method fails.
  const std::string& forged() const { return forged_; }

 private:
  /// How a sample is asked for.
  struct Ask {
    int64_t calls = 1;
    int64_t flushed = 0;
    bool primed = false;  // another sample, whose time is left out, before it
    bool may_judge = true;
    bool counted = false;
  };
  Status BindTo(const std::vector<Value>& memory,
                const std::vector<Value>& outputs);
  /// Copies with up to a page of other memory between them.
  Result<std::vector<Value>> CopiesElsewhere(std::span<const Value> values);
  Status BindBackward(const Backward& backward);
  /// The nanoseconds of the sample.
  Result<double> Sample(const Ask& ask);
  /// Samples, one for each of the runs. Judges that sample by that set.
  Result<std::vector<double>> TakeRuns(const Ask& ask,
                                       std::span<const std::vector<Value>> runs,
                                       int64_t watched = -1,
                                       const Judged* judged = nullptr);
  /// One of the sets that are judged, but the last.
  const Judged& AnyJudged();
  /// The set for the next sample; null: it is not judged.
  const Judged* DrawJudged();
  /// So many samples of one call each, none with the inputs of the one before,
  /// of which one is judged.
  Result<std::vector<double>> Singles(int64_t count, const Judged& judged);
  /// Fails where times of so many calls cannot be within that time here.
  Status CheckTimes(std::span<const std::chrono::nanoseconds> times,
                    int64_t calls, int64_t here_ns);
  Result<Forgery> ClockFault(double call_ns);
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
  std::vector<Value> memory_;  // of inputs, and of cotangents behind them
  size_t n_inputs_ = 0;
  std::vector<Value> outputs_;  // that are bound
  std::vector<Value> cleared_;  // those, or the memory of gradients
  bool is_filled_ = false;      // memory_, before each sample
  std::unique_ptr<Binding> binding_;
  std::unique_ptr<GradientBinding> gradients_;
  double last_ns_ = 0;     // of the last sample of Time
  double asked_ns_ = 0;    // here, of the last ask
  counts::Counts counts_;  // of the last ask that counts
  int64_t n_asked_ = 0;
  int64_t n_judged_ = 0;
  int64_t judging_ns_ = 0;  // wall time
  std::string fault_, forged_;
};

}  // namespace assay::times
