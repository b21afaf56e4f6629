// SPDX-License-Identifier: Apache-2.0
//
// Programs that are right.

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "framework/core/status.h"
#include "framework/core/text.h"
#include "framework/ranks/check/board.h"
#include "framework/ranks/check/check_fixture.h"

namespace assay::ranks {
namespace {

using enum Operation;

const Row kRight[] = {
    {"nothing", 3, Finding::kNone, "",
     [](Endpoint&, Memory&) { return OkStatus(); }},
    {"one rank alone", 1, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) { return Do(mine, m, kAllReduce); }},
    {"one sends, the other receives", 2, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) {
       return mine.rank() == 0 ? Send(mine, m, 1) : Receive(mine, m, 0);
     }},
    {"even ranks send first", 4, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) -> Status {
       const int other = mine.rank() ^ 1;
       if (mine.rank() % 2 == 1) ASSAY_DO(Receive(mine, m, other));
       ASSAY_DO(Send(mine, m, other));
       return mine.rank() % 2 == 0 ? Receive(mine, m, other) : OkStatus();
     }},
    {"a ring that sends and receives at once", 4, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) {
       return mine.Exchange((mine.rank() + 1) % 4, Out(m.in, 3),
                            (mine.rank() + 3) % 4, In(m.out, 3));
     }},
    {"a rank sends to itself and receives", 2, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) {
       return mine.Exchange(mine.rank(), Out(m.in, 2), mine.rank(),
                            In(m.out, 2));
     }},
    {"a pipeline", 4, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) -> Status {
       for (int i = 0; i < 3; ++i) {
         if (mine.rank() > 0) ASSAY_DO(Receive(mine, m, mine.rank() - 1));
         if (mine.rank() < 3) ASSAY_DO(Send(mine, m, mine.rank() + 1));
       }
       return OkStatus();
     }},
    {"all collectives", 3, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) -> Status {
       for (const Operation each :
            {kBarrier, kBroadcast, kReduce, kAllReduce, kGather, kScatter,
             kReduceScatter, kAllGather, kAllToAll}) {
         ASSAY_DO(Do(mine, m, each, 4, 2));
       }
       return OkStatus();
     }},
    {"a broadcast of each root", 4, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) -> Status {
       for (int root = 0; root < 4; ++root) {
         ASSAY_DO(Do(mine, m, kBroadcast, 2, root));
       }
       return OkStatus();
     }},
    {"a collective of nothing", 3, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) { return Do(mine, m, kAllGather, 0); }},
    {"an empty message", 2, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) {
       return mine.rank() == 0 ? Send(mine, m, 1, 0) : Receive(mine, m, 0, 0);
     }},
    {"in place", 3, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) {
       CollectiveCall call = CallOf(mine, m, kAllReduce, 5);
       call.in = call.out;
       return mine.Collect(call);
     }},
    {"begun in place", 3, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) -> Status {
       CollectiveCall call = CallOf(mine, m, kAllReduce, 5);
       call.in = call.out;
       ASSAY_ASSIGN_OR_RETURN(const auto begun, mine.Start(call));
       return begun->Wait();
     }},
    {"two waited for in different orders", 3, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) -> Status {
       Memory other;
       ASSAY_ASSIGN_OR_RETURN(const auto a,
                              mine.Start(CallOf(mine, m, kAllReduce, 7)));
       ASSAY_ASSIGN_OR_RETURN(const auto b,
                              mine.Start(CallOf(mine, other, kAllGather, 2)));
       if (mine.rank() == 1) ASSAY_DO(b->Wait());
       ASSAY_DO(a->Wait());
       return mine.rank() == 1 ? OkStatus() : b->Wait();
     }},
    {"messages while a sum is under way", 2, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_ASSIGN_OR_RETURN(const auto sum,
                              mine.Start(CallOf(mine, m, kAllReduce, 4)));
       if (mine.rank() == 1) {
         ASSAY_DO(sum->Wait());
         return mine.Exchange(0, Out(m.more, 1), kNobody, {});
       }
       ASSAY_DO(mine.Exchange(kNobody, {}, 1, In(m.more, 1)));
       return sum->Wait();
     }},
    {"two read one input", 2, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) -> Status {
       CollectiveCall call = CallOf(mine, m, kAllReduce);
       ASSAY_ASSIGN_OR_RETURN(const auto a, mine.Start(call));
       call.out = In(m.more, 1);
       ASSAY_ASSIGN_OR_RETURN(const auto b, mine.Start(call));
       return Together({a->Wait(), b->Wait()});
     }},
    {"a sum from anybody that does not round", 4, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) {
       return FromAll(mine, m, [](Memory& own, int, float came) {
         own.more[0] += came;
         own.result = StrCat(own.more[0]);
       });
     }},
    {"what came from anybody is put in order", 4, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_DO(FromAll(mine, m, [](Memory& own, int from, float came) {
         own.more[static_cast<size_t>(from)] = came;
       }));
       m.result = StrCat(m.more[1], m.more[2], m.more[3]);
       return OkStatus();
     }},
    {"a server that answers whoever comes", 3, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) -> Status {
       if (mine.rank() > 0) {
         ASSAY_DO(Send(mine, m, 0));
         return Receive(mine, m, 0);
       }
       for (int i = 0; i < 2; ++i) {
         ASSAY_ASSIGN_OR_RETURN(const int from, mine.ReceiveAny(In(m.out, 1)));
         ASSAY_DO(Send(mine, m, from));
       }
       return OkStatus();
     }},
    {"halves that do different things", 4, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_ASSIGN_OR_RETURN(const auto half,
                              mine.Split(mine.rank() % 2, -mine.rank()));
       ASSAY_DO(
           Do(*half, m, mine.rank() % 2 == 0 ? kAllReduce : kBroadcast, 3));
       return Do(mine, m, kBarrier);
     }},
    {"parts of parts", 4, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_ASSIGN_OR_RETURN(const auto half, mine.Split(mine.rank() / 2, 0));
       ASSAY_ASSIGN_OR_RETURN(const auto one, half->Split(half->rank(), 0));
       ASSAY_DO(Do(*one, m, kAllReduce));
       return Do(*half, m, kAllGather, 2);
     }},
    {"a split whose ranks go on with messages", 4, Finding::kNone, "",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_ASSIGN_OR_RETURN(const auto half, mine.Split(mine.rank() % 2, 0));
       return half->Exchange(1 - half->rank(), Out(m.in, 2), 1 - half->rank(),
                             In(m.out, 2));
     }},
};

// Kills: what is found where nothing is wrong.
TEST(CheckProgramTest, FindsNothingInWhatIsRight) { ExpectFound(kRight); }

/// A block from each rank to the next one; the last rank does so once more.
Status ExchangeInARing(Endpoint& mine, Memory& m, bool last_goes_on) {
  const int ranks = mine.size();
  const std::array to = {(mine.rank() + 1) % ranks};
  const std::array from = {(mine.rank() + ranks - 1) % ranks};
  ASSAY_ASSIGN_OR_RETURN(const auto neighbors, mine.Connect(to, from));
  ASSAY_DO(neighbors->Exchange(Out(m.in, 2), In(m.out, 2)));
  if (last_goes_on && mine.rank() == ranks - 1) {
    return neighbors->Exchange(Out(m.in, 2), In(m.out, 2));
  }
  return Do(mine, m, kBarrier);
}

// Kills: exchanges with neighbors that are none of a group's collectives, or whose memory
// nobody looks at.
TEST(CheckProgramTest, ExchangesWithNeighborsAreCollectives) {
  const Row rows[] = {
      {"a ring", 3, Finding::kNone, "",
       [](Endpoint& mine, Memory& m) {
         return ExchangeInARing(mine, m, /*last_goes_on=*/false);
       }},
      {"the last rank goes on", 3, Finding::kMatching,
       "does exchange with neighbors",
       [](Endpoint& mine, Memory& m) {
         return ExchangeInARing(mine, m, /*last_goes_on=*/true);
       }},
      {"the block of a sum that is under way", 2, Finding::kConcurrency,
       "for exchange with neighbors",
       [](Endpoint& mine, Memory& m) -> Status {
         const std::array other = {1 - mine.rank()};
         ASSAY_ASSIGN_OR_RETURN(const auto neighbors,
                                mine.Connect(other, other));
         ASSAY_ASSIGN_OR_RETURN(const auto sum,
                                mine.Start(CallOf(mine, m, kAllReduce)));
         ASSAY_DO(neighbors->Exchange(Out(m.out, 1), In(m.more, 1)));
         return sum->Wait();
       }},
  };
  for (const Row& row : rows) {
    const Checked checked = Check(row);
    EXPECT_EQ(checked.finding, row.finding) << row.name << ": " << checked.text;
    EXPECT_THAT(checked.text, ::testing::HasSubstr(row.says)) << row.name;
  }
}

TEST(CheckProgramTest, GoesThroughEveryOrder) {
  const Row row = {"", 4, Finding::kNone, "", [](Endpoint& mine, Memory& m) {
                     return FromAll(mine, m, [](Memory&, int, float) {});
                   }};
  // Three messages in six orders, with room for them and without.
  EXPECT_EQ(Check(row).runs, 12);
}

}  // namespace
}  // namespace assay::ranks
