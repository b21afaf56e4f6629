// SPDX-License-Identifier: Apache-2.0
//
// Programs whose calls are wrong by themselves, and those that end by chance.

#include <gtest/gtest.h>

#include <memory>

#include "framework/core/status.h"
#include "framework/core/text.h"
#include "framework/ranks/check/board.h"
#include "framework/ranks/check/check_fixture.h"

namespace assay::ranks {
namespace {

using enum Operation;

const Row kParameters[] = {
    {"sends to a rank that is none", 2, Finding::kParameter, "found the rank 2",
     [](Endpoint& mine, Memory& m) { return Send(mine, m, 2); }},
    {"receives from a rank below", 2, Finding::kParameter, "found the rank -5",
     [](Endpoint& mine, Memory& m) { return Receive(mine, m, -5); }},
    {"a root that is none", 2, Finding::kParameter, "found the root 2",
     [](Endpoint& mine, Memory& m) { return Do(mine, m, kBroadcast, 1, 2); }},
    {"a count below 0", 2, Finding::kParameter, "found -1 elements",
     [](Endpoint& mine, Memory& m) {
       CollectiveCall call = CallOf(mine, m, kAllReduce);
       call.count = -1;
       return mine.Collect(call);
     }},
    {"too little output", 2, Finding::kParameter, "4 of output",
     [](Endpoint& mine, Memory& m) {
       CollectiveCall call = CallOf(mine, m, kAllGather);
       call.out = call.out.first(4);
       return mine.Collect(call);
     }},
    {"too little input", 2, Finding::kParameter, "found 4 bytes of input",
     [](Endpoint& mine, Memory& m) {
       CollectiveCall call = CallOf(mine, m, kAllToAll);
       call.in = call.in.first(4);
       return mine.Collect(call);
     }},
    {"elements that nobody adds", 2, Finding::kParameter, "string",
     [](Endpoint& mine, Memory& m) {
       CollectiveCall call = CallOf(mine, m, kAllReduce);
       call.type = DType::kString;
       return mine.Collect(call);
     }},
    {"a rank that a half has not", 4, Finding::kParameter,
     "found the rank 3, wanted one below 2",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_ASSIGN_OR_RETURN(const auto half, mine.Split(mine.rank() % 2, 0));
       return half->Exchange(3, Out(m.in, 1), kNobody, {});
     }},
};

Status WaitTwice(Endpoint& mine, Memory& m) {
  ASSAY_ASSIGN_OR_RETURN(const auto sum,
                         mine.Start(CallOf(mine, m, kAllReduce)));
  ASSAY_DO(sum->Wait());
  return sum->Wait();
}

const Row kRequests[] = {
    {"waits twice", 2, Finding::kLifecycle, "once more", &WaitTwice},
    {"waits twice on one rank", 3, Finding::kLifecycle,
     "rank 1 waits for allreduce of 1 float32 by sum once more",
     [](Endpoint& mine, Memory& m) -> Status {
       if (mine.rank() == 1) return WaitTwice(mine, m);
       return Do(mine, m, kAllReduce);
     }},
    {"waits for the first of two twice", 2, Finding::kLifecycle, "once more",
     [](Endpoint& mine, Memory& m) -> Status {
       Memory other;
       ASSAY_ASSIGN_OR_RETURN(const auto a,
                              mine.Start(CallOf(mine, m, kAllReduce)));
       ASSAY_ASSIGN_OR_RETURN(const auto b,
                              mine.Start(CallOf(mine, other, kAllReduce)));
       return Together({a->Wait(), b->Wait(), a->Wait()});
     }},
    {"waits for nothing", 2, Finding::kLeak, "did not wait for allreduce",
     [](Endpoint& mine, Memory& m) {
       return mine.Start(CallOf(mine, m, kAllReduce)).status();
     }},
    {"one rank does not wait", 3, Finding::kLeak,
     "rank 2 did not wait for allgather",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_ASSIGN_OR_RETURN(const auto begun,
                              mine.Start(CallOf(mine, m, kAllGather)));
       return mine.rank() == 2 ? OkStatus() : begun->Wait();
     }},
    {"the second of two is not waited for", 2, Finding::kLeak,
     "did not wait for broadcast",
     [](Endpoint& mine, Memory& m) -> Status {
       Memory other;
       ASSAY_ASSIGN_OR_RETURN(const auto a,
                              mine.Start(CallOf(mine, m, kAllReduce)));
       ASSAY_ASSIGN_OR_RETURN(const auto b,
                              mine.Start(CallOf(mine, other, kBroadcast)));
       return a->Wait();
     }},
    {"the input is changed", 2, Finding::kConcurrency,
     "changed the input of allreduce",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_ASSIGN_OR_RETURN(const auto sum,
                              mine.Start(CallOf(mine, m, kAllReduce)));
       m.in[0] = 7;
       return sum->Wait();
     }},
    {"an output is the next one's input", 2, Finding::kConcurrency,
     "uses memory of allreduce",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_ASSIGN_OR_RETURN(const auto a,
                              mine.Start(CallOf(mine, m, kAllReduce)));
       CollectiveCall call = CallOf(mine, m, kAllReduce);
       call.in = call.out;
       call.out = In(m.more, 1);
       ASSAY_ASSIGN_OR_RETURN(const auto b, mine.Start(call));
       return Together({a->Wait(), b->Wait()});
     }},
    {"two have one output", 2, Finding::kConcurrency, "uses memory of",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_ASSIGN_OR_RETURN(const auto a,
                              mine.Start(CallOf(mine, m, kAllReduce)));
       ASSAY_ASSIGN_OR_RETURN(const auto b,
                              mine.Start(CallOf(mine, m, kAllReduce)));
       return Together({a->Wait(), b->Wait()});
     }},
    {"an output is sent before it is there", 2, Finding::kConcurrency,
     "for send 4 bytes to rank",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_ASSIGN_OR_RETURN(const auto sum,
                              mine.Start(CallOf(mine, m, kAllReduce)));
       const int other = 1 - mine.rank();
       ASSAY_DO(mine.Exchange(other, Out(m.out, 1), other, In(m.more, 1)));
       return sum->Wait();
     }},
    {"a message comes into the input", 2, Finding::kConcurrency,
     "for receive 4 bytes from anybody",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_ASSIGN_OR_RETURN(const auto sum,
                              mine.Start(CallOf(mine, m, kAllReduce)));
       if (mine.rank() == 1) ASSAY_DO(Send(mine, m, 0));
       if (mine.rank() == 0) ASSAY_DO(mine.ReceiveAny(In(m.in, 1)).status());
       return sum->Wait();
     }},
    {"a collective writes where another one reads", 2, Finding::kConcurrency,
     "for broadcast",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_ASSIGN_OR_RETURN(const auto sum,
                              mine.Start(CallOf(mine, m, kAllReduce)));
       Memory other;
       CollectiveCall call = CallOf(mine, other, kBroadcast);
       call.out = In(m.in, 1);
       ASSAY_DO(mine.Collect(call));
       return sum->Wait();
     }},
};

const Row kRaces[] = {
    {"the first one wins", 3, Finding::kRace, "rank 0 ends with ",
     [](Endpoint& mine, Memory& m) {
       m.result.clear();
       return FromAll(mine, m, [](Memory& own, int from, float) {
         if (own.result.empty()) own.result = StrCat(from);
       });
     }},
    {"the last one stays", 3, Finding::kRace, "rank 0 ends with ",
     [](Endpoint& mine, Memory& m) {
       return FromAll(mine, m, [](Memory& own, int from, float) {
         own.result = StrCat(from);
       });
     }},
    {"a sum that rounds", 4, Finding::kRace, "in one order",
     [](Endpoint& mine, Memory& m) {
       if (mine.rank() == 1) m.in[0] = 1e8F;
       if (mine.rank() == 2) m.in[0] = -1e8F;
       return FromAll(mine, m, [](Memory& own, int, float came) {
         own.more[0] += came;
         own.result = StrCat(own.more[0]);
       });
     }},
    {"a server that takes steps as they come", 3, Finding::kRace,
     "in one order",
     [](Endpoint& mine, Memory& m) {
       m.more[0] = 1;
       return FromAll(mine, m, [](Memory& own, int, float came) {
         own.more[0] = own.more[0] / 2 + came;
         own.result = StrCat(own.more[0]);
       });
     }},
    {"who comes first is told to all", 3, Finding::kRace, "rank ",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_DO(FromAll(mine, m, [](Memory& own, int from, float) {
         if (own.in[0] == 1) own.in[0] = static_cast<float>(from) + 1;
       }));
       ASSAY_DO(Do(mine, m, kBroadcast));
       m.result = StrCat(m.out[0]);
       return OkStatus();
     }},
    {"a message too many", 2, Finding::kLost,
     "rank 1 did not receive 1 message, the first of 4 bytes from rank 0",
     [](Endpoint& mine, Memory& m) -> Status {
       if (mine.rank() == 1) return Receive(mine, m, 0);
       ASSAY_DO(Send(mine, m, 1));
       return Send(mine, m, 1);
     }},
    {"a message to one that does not receive", 3, Finding::kLost,
     "rank 2 did not receive",
     [](Endpoint& mine, Memory& m) {
       return mine.rank() == 0 ? Send(mine, m, 2) : OkStatus();
     }},
    {"a message in a half that nobody receives", 4, Finding::kLost,
     "rank 3 did not receive",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_ASSIGN_OR_RETURN(const auto half, mine.Split(mine.rank() % 2, 0));
       return mine.rank() == 1 ? Send(*half, m, 1) : OkStatus();
     }},
};

TEST(CheckProgramTest, FindsWhatCannotBe) { ExpectFound(kParameters); }

// Kills: calls under way that nobody looks after.
TEST(CheckProgramTest, FindsCallsThatAreNotWaitedForRightly) {
  ExpectFound(kRequests);
}

// Kills: one order in place of all.
TEST(CheckProgramTest, FindsWhatDependsOnChanceAndWhatIsLost) {
  ExpectFound(kRaces);
}

}  // namespace
}  // namespace assay::ranks
