// SPDX-License-Identifier: Apache-2.0
//
// The states of a session: how far its worker has come, and what is done about
// what becomes of it. One table says it all: a state and an event, the next
// state, an action.

#pragma once

#include <span>

namespace assay::session {

enum class State {
  kAny,            // of a row: each that has no row of its own for the event
  kGone,           // there is no worker
  kStarting,       // no case was begun
  kStartingAgain,  // the same, by the worker after one that began none, too
  kInCase,
  kBetween,  // at least one case has a verdict, and none is open
  kThrough,  // with its batch
  // It is being killed, since it went over a limit:
  kOverStarting,  // before its first case
  kOverInCase,    // in the case that is open
  kOverSettled,   // in a case that has its verdict all the same
  kOverBetween,   // where no case was open
};

enum class Event {
  kBegun,       // a case was
  kVerdict,     // of the open case, or of one that was not begun
  kBatchEnd,    // the worker says that it is through
  kChildEnded,  // a process in which the worker runs cases
  kFault,       // the worker says that it is broken
  kBroken,      // what the worker wrote cannot be read
  kOverLimit,   // of time or memory
  kEndedWell,   // the worker, with exit code 0; where no row has it, kEnded
  kEnded,       // the worker, in any way
};

enum class Action {
  kNone,
  kKill,         // the worker, and read what it wrote until then
  kChargeEnd,    // the open case is charged with how a process ended
  kChargeLimit,  // the open case is charged with the limit
  kNoteEnd,      // how a process ended, for which no case can be blamed
  kNoteLimit,    // the same of the limit
  kTryAgain,     // that no case was begun is noted, and another worker starts
  kLoseAll,      // each case that is left is charged with that
  kMend,         // the journal is cut where it cannot be read any more
  kFail,         // the run ends
};

struct Transition {
  State from;
  Event event;
  State next;  // kAny: the state stays
  Action action;
};

/// All rows; of a state and an event there is one at most.
std::span<const Transition> Transitions();

/// The row for them: that of the state, or else of any state. Null where there
/// is none, since that cannot come about.
const Transition* TransitionOf(State state, Event event);

}  // namespace assay::session
