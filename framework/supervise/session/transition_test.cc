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
  State ends;
  std::vector<Action> actions;  // without kNone
  State begins = kStarting;
};

const Course kCourses[] = {
    {"a batch is run",
     {kBegun, kVerdict, kBegun, kVerdict, kBatchEnd, kEndedWell},
     kGone,
     {}},
    {"a backend that is missing is the verdict of each case",
     {kVerdict, kVerdict, kBatchEnd, kEndedWell},
     kGone,
     {}},
    {"it is so for a worker that was started again",
     {kVerdict, kBatchEnd, kEndedWell},
     kGone,
     {},
     kStartingAgain},
    {"a case that ends the worker is charged",
     {kBegun, kVerdict, kBegun, kEnded},
     kGone,
     {kChargeEnd}},
    {"exit code 0 is no excuse for a case without a verdict",
     {kBegun, kEndedWell},
     kGone,
     {kChargeEnd}},
    {"nor is the end of a batch",
     {kBegun, kBatchEnd, kEndedWell},
     kGone,
     {kChargeEnd}},
    {"a case whose verdict never came does not hide the next",
     {kBegun, kBegun, kEnded},
     kGone,
     {kChargeEnd}},
    {"a case that ends its process is charged, and the worker goes on",
     {kBegun, kChildEnded, kBegun, kVerdict, kBatchEnd, kEndedWell},
     kGone,
     {kChargeEnd}},
    {"it is charged once",
     {kBegun, kChildEnded, kEnded},
     kGone,
     {kChargeEnd, kNoteEnd}},
    {"a process that ends between two cases is noted",
     {kChildEnded, kBegun, kVerdict, kChildEnded, kBatchEnd, kEndedWell},
     kGone,
     {kNoteEnd, kNoteEnd}},
    {"a worker that ends between two cases is noted",
     {kBegun, kVerdict, kEnded},
     kGone,
     {kNoteEnd}},
    {"it is too early even with exit code 0",
     {kBegun, kVerdict, kEndedWell},
     kGone,
     {kNoteEnd}},
    {"a worker that does not end well after its batch is noted",
     {kBegun, kVerdict, kBatchEnd, kEnded},
     kGone,
     {kNoteEnd}},
    {"a worker that begins no case gets one more try",
     {kEnded, kBatchEnd, kEndedWell},
     kGone,
     {kTryAgain, kLoseAll}},
    {"a case that is begun at the second try is a case",
     {kEnded, kBegun, kEnded},
     kGone,
     {kTryAgain, kChargeEnd}},
    {"a case over a limit is charged with it",
     {kBegun, kOverLimit, kEnded},
     kGone,
     {kKill, kChargeLimit}},
    {"its verdict came while the worker was being killed",
     {kBegun, kOverLimit, kVerdict, kEnded},
     kGone,
     {kKill}},
    {"so did that and the next case",
     {kBegun, kOverLimit, kVerdict, kBegun, kEnded},
     kGone,
     {kKill, kChargeLimit}},
    {"so did the next case alone",
     {kBegun, kOverLimit, kBegun, kEnded},
     kGone,
     {kKill, kChargeLimit}},
    {"so did the end of its process, which is said",
     {kBegun, kOverLimit, kChildEnded, kEnded},
     kGone,
     {kKill, kChargeEnd}},
    {"a worker over a limit between two cases is noted",
     {kBegun, kVerdict, kOverLimit, kEnded},
     kGone,
     {kKill, kNoteLimit}},
    {"so is one that does not end",
     {kBegun, kVerdict, kBatchEnd, kOverLimit, kEnded},
     kGone,
     {kKill, kNoteLimit}},
    {"a case was begun while it was being killed",
     {kBegun, kVerdict, kOverLimit, kBegun, kEnded},
     kGone,
     {kKill, kChargeLimit}},
    {"a worker over a limit before its first case gets no other try",
     {kOverLimit, kEnded},
     kGone,
     {kKill, kLoseAll}},
    {"nor does it after one that began none",
     {kEnded, kOverLimit, kEnded},
     kGone,
     {kTryAgain, kKill, kLoseAll}},
    {"the first case was begun while it was being killed",
     {kOverLimit, kBegun, kEnded},
     kGone,
     {kKill, kChargeLimit}},
    {"verdicts of all cases came while it was being killed",
     {kOverLimit, kVerdict, kEnded},
     kGone,
     {kKill, kNoteLimit}},
    {"a journal that was broken is mended", {kBegun, kBroken}, kGone, {kMend}},
    {"but not where it is all that the worker did",
     {kBroken},
     kStarting,
     {kFail}},
    {"nor where the worker before it did nothing",
     {kEnded, kBroken},
     kStartingAgain,
     {kTryAgain, kFail}},
    {"nor where it went over a limit before that",
     {kOverLimit, kBroken},
     kOverStarting,
     {kKill, kFail}},
    {"a worker that says it is broken ends the run",
     {kBegun, kVerdict, kFault},
     kBetween,
     {kFail}},
};

TEST(TransitionTest, EachCourseEndsAsItIsSaid) {
  for (const Course& course : kCourses) {
    State state = course.begins;
    std::vector<Action> actions;
    for (const Event event : course.events) {
      const Transition* const row = TransitionOf(state, event);
      ASSERT_NE(row, nullptr) << course.says;
      if (row->next != kAny) state = row->next;
      if (row->action != kNone) actions.push_back(row->action);
    }
    EXPECT_EQ(state, course.ends) << course.says;
    EXPECT_THAT(actions, ElementsAreArray(course.actions)) << course.says;
  }
}

// Kills: a row that no course above comes by, so that nobody knows what it is
// for.
TEST(TransitionTest, EachRowIsOfSomeCourse) {
  std::set<const Transition*> met;
  for (const Course& course : kCourses) {
    State state = course.begins;
    for (const Event event : course.events) {
      const Transition* const row = TransitionOf(state, event);
      ASSERT_NE(row, nullptr) << course.says;
      met.insert(row);
      if (row->next != kAny) state = row->next;
    }
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
