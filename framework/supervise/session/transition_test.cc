// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/session/transition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace assay::session {
namespace {

using enum State;
using enum Event;
using enum Action;
using testing::ElementsAreArray;

/// All that becomes of a worker, from its start on, and what is done about it.
struct Course {
  const char* says;
  std::vector<Event> events;
  std::vector<Action> actions = {};  // without kNone
  State ends = kGone;
  State begins = kStarting;

  /// Comes by each row with visit(row, the state behind it).
  template <class Visit>
  void Follow(const Visit& visit) const {
    State state = begins;
    for (const Event event : events) {
      const Transition* const row = TransitionOf(state, event);
      ASSERT_NE(row, nullptr) << says;
      if (row->next != kAny) state = row->next;
      visit(*row, state);
    }
  }
};

const Course kCourses[] = {
    {"a batch is run",
     {kBegun, kVerdict, kBegun, kVerdict, kBatchEnd, kEndedWell}},
    {"a backend that is missing is the verdict of each case",
     {kVerdict, kVerdict, kBatchEnd, kEndedWell}},
    {"it is so for a worker that was started again",
     {kVerdict, kBatchEnd, kEndedWell},
     {},
     kGone,
     kStartingAgain},
    {"a case that ends the worker is charged",
     {kBegun, kVerdict, kBegun, kEnded},
     {kChargeEnd}},
    {"exit code 0 is no excuse for a case without a verdict",
     {kBegun, kEndedWell},
     {kChargeEnd}},
    {"nor is the end of a batch",
     {kBegun, kBatchEnd, kEndedWell},
     {kChargeEnd}},
    {"a case whose verdict never came does not hide the next",
     {kBegun, kBegun, kEnded},
     {kChargeEnd}},
    {"a case that ends its process is charged, and the worker goes on",
     {kBegun, kChildEnded, kBegun, kVerdict, kBatchEnd, kEndedWell},
     {kChargeEnd}},
    {"it is charged once",
     {kBegun, kChildEnded, kEnded},
     {kChargeEnd, kNoteEnd}},
    {"a process that ends between two cases is noted",
     {kChildEnded, kBegun, kVerdict, kChildEnded, kBatchEnd, kEndedWell},
     {kNoteEnd, kNoteEnd}},
    {"a worker that ends between two cases is noted",
     {kBegun, kVerdict, kEnded},
     {kNoteEnd}},
    {"it is too early even with exit code 0",
     {kBegun, kVerdict, kEndedWell},
     {kNoteEnd}},
    {"a worker that does not end well after its batch is noted",
     {kBegun, kVerdict, kBatchEnd, kEnded},
     {kNoteEnd}},
    {"a worker that begins no case gets one more try",
     {kEnded, kBatchEnd, kEndedWell},
     {kTryAgain, kLoseAll}},
    {"a case that is begun at the second try is a case",
     {kEnded, kBegun, kEnded},
     {kTryAgain, kChargeEnd}},
    {"a case over a limit is charged with it",
     {kBegun, kOverLimit, kEnded},
     {kKill, kChargeLimit}},
    {"its verdict came while the worker was being killed",
     {kBegun, kOverLimit, kVerdict, kEnded},
     {kKill}},
    {"so did that and the next case",
     {kBegun, kOverLimit, kVerdict, kBegun, kEnded},
     {kKill, kChargeLimit}},
    {"so did the next case alone",
     {kBegun, kOverLimit, kBegun, kEnded},
     {kKill, kChargeLimit}},
    {"so did the end of its process, which is said",
     {kBegun, kOverLimit, kChildEnded, kEnded},
     {kKill, kChargeEnd}},
    {"a worker over a limit between two cases is noted",
     {kBegun, kVerdict, kOverLimit, kEnded},
     {kKill, kNoteLimit}},
    {"so is one that does not end",
     {kBegun, kVerdict, kBatchEnd, kOverLimit, kEnded},
     {kKill, kNoteLimit}},
    {"a case was begun while it was being killed",
     {kBegun, kVerdict, kOverLimit, kBegun, kEnded},
     {kKill, kChargeLimit}},
    {"a worker over a limit before its first case gets no other try",
     {kOverLimit, kEnded},
     {kKill, kLoseAll}},
    {"nor does it after one that began none",
     {kEnded, kOverLimit, kEnded},
     {kTryAgain, kKill, kLoseAll}},
    {"the first case was begun while it was being killed",
     {kOverLimit, kBegun, kEnded},
     {kKill, kChargeLimit}},
    {"verdicts of all cases came while it was being killed",
     {kOverLimit, kVerdict, kEnded},
     {kKill, kNoteLimit}},
    {"a journal that was broken is mended", {kBegun, kBroken}, {kMend}},
    {"but not where it is all that the worker did",
     {kBroken},
     {kFail},
     kStarting},
    {"nor where the worker before it did nothing",
     {kEnded, kBroken},
     {kTryAgain, kFail},
     kStartingAgain},
    {"nor where it went over a limit before that",
     {kOverLimit, kBroken},
     {kKill, kFail},
     kOverStarting},
    {"a worker that says it is broken ends the run",
     {kBegun, kVerdict, kFault},
     {kFail},
     kBetween},
};

TEST(TransitionTest, EachCourseEndsAsItIsSaid) {
  for (const Course& course : kCourses) {
    State state = course.begins;
    std::vector<Action> actions;
    course.Follow([&](const Transition& row, State next) {
      state = next;
      if (row.action != kNone) actions.push_back(row.action);
    });
    EXPECT_EQ(state, course.ends) << course.says;
    EXPECT_THAT(actions, ElementsAreArray(course.actions)) << course.says;
  }
}

// Kills: a row that no course above comes by, so that nobody knows what it is
// for.
TEST(TransitionTest, EachRowIsOfSomeCourse) {
  std::set<const Transition*> met;
  for (const Course& course : kCourses) {
    course.Follow([&](const Transition& row, State) { met.insert(&row); });
  }
  int number = 0;
  for (const Transition& row : Transitions()) {
    EXPECT_TRUE(met.contains(&row)) << "row " << number;
    ++number;
  }
}

TEST(TransitionTest, AStateAndAnEventHaveOneRow) {
  std::set<std::pair<State, Event>> keys;
  for (const Transition& row : Transitions()) {
    EXPECT_TRUE(keys.emplace(row.from, row.event).second);
  }
  for (const State state :
       {kStarting, kStartingAgain, kInCase, kBetween, kThrough, kOverStarting,
        kOverInCase, kOverSettled, kOverBetween}) {
    for (const Event event : {kBegun, kVerdict, kBatchEnd, kChildEnded,
                              kOverLimit, kEndedWell, kEnded}) {
      const Transition* const row = TransitionOf(state, event);
      ASSERT_NE(row, nullptr);
      EXPECT_NE(row->action, kFail);
    }
  }
}

// Kills: a worker that nobody has started and whose end starts another.
TEST(TransitionTest, WhereThereIsNoWorkerNoneEnds) {
  EXPECT_EQ(TransitionOf(kGone, kEnded), nullptr);
  EXPECT_EQ(TransitionOf(kGone, kEndedWell), nullptr);
}

}  // namespace
}  // namespace assay::session
