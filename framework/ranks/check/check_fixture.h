// SPDX-License-Identifier: Apache-2.0
//
// Programs of ranks for tests, in few words.
//
//   const Row row = {"both receive first", 2, Finding::kOrder, "rank 0 in receive",
//                    [](Endpoint& mine, Memory& m) -> Status {
//                      ASSAY_DO(Receive(mine, m, 1 - mine.rank()));
//                      return Send(mine, m, 1 - mine.rank());
//                    }};
//   EXPECT_EQ(Check(row).finding, row.finding);

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/check/board.h"
#include "framework/ranks/check/check_program.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/own.h"

namespace assay::ranks {

/// Of one rank.
struct Memory {
  std::array<float, 16> in = {}, out = {}, more = {};
  std::string result = "done";
};

inline std::span<const std::byte> Out(const std::array<float, 16>& memory,
                                      size_t n) {
  return std::as_bytes(std::span(memory).first(n));
}
inline std::span<std::byte> In(std::array<float, 16>& memory, size_t n) {
  return std::as_writable_bytes(std::span(memory).first(n));
}

inline Status Send(Endpoint& mine, Memory& m, int to, size_t n = 1) {
  return mine.Exchange(to, Out(m.in, n), kNobody, {});
}
inline Status Receive(Endpoint& mine, Memory& m, int from, size_t n = 1) {
  return mine.Exchange(kNobody, {}, from, In(m.out, n));
}

/// A call that fits.
inline CollectiveCall CallOf(Endpoint& mine, Memory& m, Operation operation,
                             int64_t count = 1, int root = 0) {
  const Collective what = {operation, Algorithm::kLinear, mine.size(), count,
                           root};
  const OwnParts parts = OwnPartsOf(what, mine.rank());
  return {.operation = operation,
          .reduction = Reduction::kSum,
          .type = DType::kFloat32,
          .count = count,
          .root = root,
          .in = Out(m.in, static_cast<size_t>(parts.in.count)),
          .out = In(m.out, static_cast<size_t>(parts.out.count))};
}
inline Status Do(Endpoint& mine, Memory& m, Operation operation,
                 int64_t count = 1, int root = 0) {
  return mine.Collect(CallOf(mine, m, operation, count, root));
}

inline Status Together(std::initializer_list<Status> all) {
  for (const Status& each : all) ASSAY_RETURN_IF_ERROR(each);
  return OkStatus();
}

struct Row {
  const char* name;
  int ranks;
  Finding finding;
  const char* says;  // a part of the text
  Status (*body)(Endpoint& mine, Memory& m);
};

inline Checked Check(const Row& row) {
  return CheckProgram(row.ranks, [&](Endpoint& mine) -> Result<std::string> {
    Memory m;
    m.in.fill(static_cast<float>(mine.rank()) + 1);
    ASSAY_RETURN_IF_ERROR(row.body(mine, m));
    return m.result;
  });
}

#define ASSAY_DO(...) ASSAY_RETURN_IF_ERROR(__VA_ARGS__)

/// Rank 0 receives from each of the others, and does something with what came.
inline Status FromAll(Endpoint& mine, Memory& m,
                      void (*take)(Memory& m, int from, float came)) {
  if (mine.rank() > 0) return Send(mine, m, 0);
  for (int i = 1; i < mine.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const int from, mine.ReceiveAny(In(m.out, 1)));
    take(m, from, m.out[0]);
  }
  return OkStatus();
}

/// Each has the verdict that it should.
inline void ExpectFound(std::span<const Row> rows) {
  int found = 0;
  for (const Row& row : rows) {
    const Checked checked = Check(row);
    EXPECT_EQ(checked.finding, row.finding) << row.name << ": " << checked.text;
    EXPECT_THAT(checked.text, ::testing::HasSubstr(row.says)) << row.name;
    if (checked.finding == row.finding) ++found;
  }
  ::testing::Test::RecordProperty("programs", static_cast<int>(rows.size()));
  ::testing::Test::RecordProperty("as_they_should", found);
}

}  // namespace assay::ranks
