// SPDX-License-Identifier: Apache-2.0
//
// Programs whose ranks wait for each other, or do not do the same.

#include <gtest/gtest.h>

#include "framework/core/status.h"
#include "framework/ranks/check/board.h"
#include "framework/ranks/check/check_fixture.h"

namespace assay::ranks {
namespace {

using enum Operation;

const Row kOrders[] = {
    {"both receive first", 2, Finding::kOrder,
     "rank 0 in receive 4 bytes from rank 1 (call 1); rank 1 in receive 4 "
     "bytes "
     "from rank 0 (call 1); rank 0 waits for rank 1, which waits for rank 0",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_DO(Receive(mine, m, 1 - mine.rank()));
       return Send(mine, m, 1 - mine.rank());
     }},
    {"three receive in a ring", 3, Finding::kOrder, "rank 2 in receive",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_DO(Receive(mine, m, (mine.rank() + 2) % 3));
       return Send(mine, m, (mine.rank() + 1) % 3);
     }},
    {"receives from one that has ended", 2, Finding::kOrder, "has ended",
     [](Endpoint& mine, Memory& m) {
       return mine.rank() == 0 ? Receive(mine, m, 1) : OkStatus();
     }},
    {"both send first", 2, Finding::kOrder, "rank 0 in send 4 bytes to rank 1",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_DO(Send(mine, m, 1 - mine.rank()));
       return Receive(mine, m, 1 - mine.rank());
     }},
    {"three send in a ring", 3, Finding::kOrder, "rank 2 in send",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_DO(Send(mine, m, (mine.rank() + 1) % 3));
       return Receive(mine, m, (mine.rank() + 2) % 3);
     }},
    {"a barrier that one does not come to", 3, Finding::kOrder,
     "rank 0 in barrier",
     [](Endpoint& mine, Memory& m) {
       return mine.rank() == 2 ? OkStatus() : Do(mine, m, kBarrier);
     }},
    {"a sum that one does not come to", 3, Finding::kOrder,
     "in allreduce of 3 float32 by sum",
     [](Endpoint& mine, Memory& m) {
       return mine.rank() == 1 ? OkStatus() : Do(mine, m, kAllReduce, 3);
     }},
    {"a barrier against a receive", 2, Finding::kOrder,
     "rank 0 in barrier (call 1); rank 1 in receive 4 bytes from rank 0",
     [](Endpoint& mine, Memory& m) {
       return mine.rank() == 0 ? Do(mine, m, kBarrier) : Receive(mine, m, 0);
     }},
    {"a send before the barrier, its receive behind", 2, Finding::kOrder,
     "rank 1 in barrier",
     [](Endpoint& mine, Memory& m) -> Status {
       if (mine.rank() == 0) ASSAY_DO(Send(mine, m, 1));
       ASSAY_DO(Do(mine, m, kBarrier));
       return mine.rank() == 1 ? Receive(mine, m, 0) : OkStatus();
     }},
    {"anybody takes what one is named for", 3, Finding::kOrder,
     "rank 0 in receive 4 bytes from rank 1",
     [](Endpoint& mine, Memory& m) -> Status {
       if (mine.rank() > 0) return Send(mine, m, 0);
       ASSAY_DO(mine.ReceiveAny(In(m.out, 1)).status());
       return Receive(mine, m, 1);
     }},
    {"one receives more than is sent", 3, Finding::kOrder,
     "receive 4 bytes from anybody",
     [](Endpoint& mine, Memory& m) -> Status {
       if (mine.rank() > 0) return Send(mine, m, 0);
       for (int i = 0; i < 3; ++i) {
         ASSAY_DO(mine.ReceiveAny(In(m.out, 1)).status());
       }
       return OkStatus();
     }},
    {"a split that one does not come to", 3, Finding::kOrder, "in split",
     [](Endpoint& mine, Memory&) {
       return mine.rank() == 0 ? OkStatus() : mine.Split(0, 0).status();
     }},
    {"a rank receives from itself", 2, Finding::kOrder,
     "rank 1 in receive 4 bytes from rank 1",
     [](Endpoint& mine, Memory& m) {
       return mine.rank() == 1 ? Receive(mine, m, 1) : OkStatus();
     }},
    {"a barrier of a half that one of it does not come to", 4, Finding::kOrder,
     "in barrier",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_ASSIGN_OR_RETURN(const auto half, mine.Split(mine.rank() % 2, 0));
       return mine.rank() == 3 ? OkStatus() : Do(*half, m, kBarrier);
     }},
};

const Row kMatchings[] = {
    {"receives less than is sent", 2, Finding::kMatching,
     "found 8 bytes from rank 0, wanted 4",
     [](Endpoint& mine, Memory& m) {
       return mine.rank() == 0 ? Send(mine, m, 1, 2) : Receive(mine, m, 0, 1);
     }},
    {"receives more than is sent", 2, Finding::kMatching,
     "found 4 bytes from rank 0, wanted 8",
     [](Endpoint& mine, Memory& m) {
       return mine.rank() == 0 ? Send(mine, m, 1, 1) : Receive(mine, m, 0, 2);
     }},
    {"two messages in the other order", 2, Finding::kMatching, "wanted 8",
     [](Endpoint& mine, Memory& m) -> Status {
       if (mine.rank() == 0) {
         ASSAY_DO(Send(mine, m, 1, 1));
         return Send(mine, m, 1, 2);
       }
       ASSAY_DO(Receive(mine, m, 0, 2));
       return Receive(mine, m, 0, 1);
     }},
    {"counts of a sum", 3, Finding::kMatching, "allreduce of 2 float32",
     [](Endpoint& mine, Memory& m) {
       return Do(mine, m, kAllReduce, mine.rank() == 2 ? 2 : 3);
     }},
    {"types of a sum", 2, Finding::kMatching, "allreduce of 1 int32",
     [](Endpoint& mine, Memory& m) {
       CollectiveCall call = CallOf(mine, m, kAllReduce);
       if (mine.rank() == 1) call.type = DType::kInt32;
       return mine.Collect(call);
     }},
    {"reductions", 2, Finding::kMatching, "by max",
     [](Endpoint& mine, Memory& m) {
       CollectiveCall call = CallOf(mine, m, kReduceScatter);
       if (mine.rank() == 1) call.reduction = Reduction::kMax;
       return mine.Collect(call);
     }},
    {"roots of a broadcast", 3, Finding::kMatching, "at the root 1",
     [](Endpoint& mine, Memory& m) {
       return Do(mine, m, kBroadcast, 1, mine.rank() == 2 ? 1 : 0);
     }},
    {"roots of a reduction", 2, Finding::kMatching, "at the root 1",
     [](Endpoint& mine, Memory& m) {
       return Do(mine, m, kReduce, 1, mine.rank());
     }},
    {"roots of a gather", 2, Finding::kMatching, "gather",
     [](Endpoint& mine, Memory& m) {
       return Do(mine, m, kGather, 1, mine.rank());
     }},
    {"a sum against a gather", 2, Finding::kMatching, "does allgather",
     [](Endpoint& mine, Memory& m) {
       return Do(mine, m, mine.rank() == 0 ? kAllReduce : kAllGather);
     }},
    {"a broadcast against a barrier", 3, Finding::kMatching, "does barrier",
     [](Endpoint& mine, Memory& m) {
       return Do(mine, m, mine.rank() == 1 ? kBarrier : kBroadcast);
     }},
    {"two collectives in the other order", 2, Finding::kMatching,
     "in collective 1",
     [](Endpoint& mine, Memory& m) -> Status {
       const bool is_first = mine.rank() == 0;
       ASSAY_DO(Do(mine, m, is_first ? kAllReduce : kBroadcast));
       return Do(mine, m, is_first ? kBroadcast : kAllReduce);
     }},
    {"a split against a barrier", 2, Finding::kMatching, "split",
     [](Endpoint& mine, Memory& m) {
       return mine.rank() == 0 ? mine.Split(0, 0).status()
                               : Do(mine, m, kBarrier);
     }},
    {"counts in a half", 4, Finding::kMatching, "allgather of 2 float32",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_ASSIGN_OR_RETURN(const auto half, mine.Split(mine.rank() % 2, 0));
       return Do(*half, m, kAllGather, mine.rank() == 3 ? 2 : 1);
     }},
    {"one collective more on a rank, of another kind", 2, Finding::kMatching,
     "in collective 2",
     [](Endpoint& mine, Memory& m) -> Status {
       ASSAY_DO(Do(mine, m, kAllReduce));
       if (mine.rank() == 1) ASSAY_DO(Do(mine, m, kBroadcast));
       return Do(mine, m, kBarrier);
     }},
    {"two begun in the other order", 2, Finding::kMatching, "in collective 1",
     [](Endpoint& mine, Memory& m) -> Status {
       Memory other;
       const bool is_first = mine.rank() == 0;
       ASSAY_ASSIGN_OR_RETURN(
           const auto a,
           mine.Start(CallOf(mine, m, is_first ? kAllReduce : kBroadcast)));
       ASSAY_ASSIGN_OR_RETURN(
           const auto b,
           mine.Start(CallOf(mine, other, is_first ? kBroadcast : kAllReduce)));
       return Together({a->Wait(), b->Wait()});
     }},
};

// Kills: ranks that stand still and are not named; a program that needs room for messages
// and passes.
TEST(CheckProgramTest, FindsRanksThatWaitForEachOther) { ExpectFound(kOrders); }

// Kills: collectives that are told apart by what they happen to send.
TEST(CheckProgramTest, FindsRanksThatDoNotDoTheSame) {
  ExpectFound(kMatchings);
}

}  // namespace
}  // namespace assay::ranks
