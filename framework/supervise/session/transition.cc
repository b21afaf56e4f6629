// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/session/transition.h"

namespace assay::session {

std::span<const Transition> Transitions() {
  using enum State;
  using enum Event;
  using enum Action;
  static constexpr Transition kRows[] = {
      // Frames of the journal.
      {kAny, kBegun, kInCase, kNone},
      {kOverStarting, kBegun, kOverInCase, kNone},
      {kOverInCase, kBegun, kOverInCase, kNone},
      {kOverSettled, kBegun, kOverInCase, kNone},
      {kOverBetween, kBegun, kOverInCase, kNone},

      {kAny, kVerdict, kAny, kNone},
      {kStarting, kVerdict, kBetween, kNone},
      {kStartingAgain, kVerdict, kBetween, kNone},
      {kInCase, kVerdict, kBetween, kNone},
      {kOverStarting, kVerdict, kOverBetween, kNone},
      {kOverInCase, kVerdict, kOverSettled, kNone},

      {kAny, kBatchEnd, kAny, kNone},
      {kBetween, kBatchEnd, kThrough, kNone},

      {kAny, kChildEnded, kAny, kNoteEnd},
      {kInCase, kChildEnded, kBetween, kChargeEnd},
      {kOverInCase, kChildEnded, kOverSettled, kChargeEnd},

      {kAny, kFault, kAny, kFail},

      // A worker that has done nothing would write the same again.
      {kAny, kBroken, kGone, kMend},
      {kStarting, kBroken, kAny, kFail},
      {kStartingAgain, kBroken, kAny, kFail},
      {kOverStarting, kBroken, kAny, kFail},

      {kAny, kOverLimit, kOverBetween, kKill},
      {kStarting, kOverLimit, kOverStarting, kKill},
      {kStartingAgain, kOverLimit, kOverStarting, kKill},
      {kInCase, kOverLimit, kOverInCase, kKill},

      // Ends. One who began no case gets another try: somebody else may have
      // ended it. After a limit, which each try would cost again, there is
      // none.
      {kStarting, kEnded, kStartingAgain, kTryAgain},
      {kStartingAgain, kEnded, kGone, kLoseAll},
      {kInCase, kEnded, kGone, kChargeEnd},
      {kBetween, kEnded, kGone, kNoteEnd},
      {kThrough, kEnded, kGone, kNoteEnd},
      {kThrough, kEndedWell, kGone, kNone},
      {kOverStarting, kEnded, kGone, kLoseAll},
      {kOverInCase, kEnded, kGone, kChargeLimit},
      {kOverSettled, kEnded, kGone, kNone},
      {kOverBetween, kEnded, kGone, kNoteLimit},
  };
  return kRows;
}

const Transition* TransitionOf(State state, Event event) {
  for (const State from : {state, State::kAny}) {
    for (const Transition& row : Transitions()) {
      if (row.from == from && row.event == event) return &row;
    }
  }
  return event == Event::kEndedWell ? TransitionOf(state, Event::kEnded)
                                    : nullptr;
}

}  // namespace assay::session
