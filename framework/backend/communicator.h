// SPDX-License-Identifier: Apache-2.0
//
// Communicator, Ranks and Endpoint: what a library that carries messages
// between ranks implements, and all that the suites know of it. Its module
// registers a Communicator in place of a Backend (registry.h).
//
//   class Acme final : public Communicator {
//    public:
//     explicit Acme(Ranks& ranks) : ranks_(ranks) {}
//     std::string_view name() const override { return "acme"; }
//     Result<Probe> Inspect() override { return Probe{"1.0", "cpu"}; }
//    private:
//     Result<Ranks*> RanksWith(const Settings&) override { return &ranks_; }
//     Ranks& ranks_;
//   };

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/backend/identity/probe.h"
#include "framework/core/dtype.h"
#include "framework/core/status.h"

namespace assay::inline v1 {

/// In place of a rank: none (MPI_PROC_NULL), and any (MPI_ANY_SOURCE).
inline constexpr int kNobody = -1;
inline constexpr int kAnybody = -2;
/// The color of a rank that wants no communicator (MPI_UNDEFINED).
inline constexpr int kNoColor = -1;

/// The operation of a collective.
enum class Operation : uint8_t {
  kBarrier,
  kBroadcast,
  kReduce,
  kAllReduce,
  kGather,
  kScatter,
  kReduceScatter,
  kAllGather,
  kAllToAll,
};

/// The reduction of two numbers. Integers wrap around. The minimum or maximum
/// with a NaN is a NaN. Those from kBitAnd on are of integers; logical ones
/// give 0 or 1. kCompose, of uint64, is Composed: it is associative and does
/// not commute, so that numbers are combined in the order of ranks. No library
/// has it: a module gives it to its library as a function (MPI_Op_create).
enum class Reduction : uint8_t {
  kSum,
  kProduct,
  kMin,
  kMax,
  kBitAnd,
  kBitOr,
  kBitXor,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kCompose,
};

/// The function x -> first(second(x)) of two functions x -> a x + b modulo
/// 2^32, each with a in the upper half of its number and b in the lower one.
constexpr uint64_t Composed(uint64_t first, uint64_t second) {
  constexpr int kHalf = 32;
  constexpr uint64_t kLow = 0xFFFFFFFFU;
  const uint64_t a = first >> kHalf;
  const uint64_t factor = a * (second >> kHalf) & kLow;
  const uint64_t constant = (a * (second & kLow) + (first & kLow)) & kLow;
  return factor << kHalf | constant;
}

inline std::string_view ToString(Operation operation) {
  constexpr std::array<std::string_view, 9> kNames = {
      "barrier", "broadcast",      "reduce",    "allreduce", "gather",
      "scatter", "reduce_scatter", "allgather", "alltoall"};
  return kNames[static_cast<size_t>(operation)];
}
inline std::string_view ToString(Reduction reduction) {
  constexpr std::array<std::string_view, 11> kNames = {
      "sum",        "product",     "min",     "max",
      "bit_and",    "bit_or",      "bit_xor", "logical_and",
      "logical_or", "logical_xor", "compose"};
  return kNames[static_cast<size_t>(reduction)];
}

/// A rank's part of a collective of the library's own. A block is `count`
/// elements, and n the number of ranks:
///
///   operation        in                      out
///   barrier          nothing                 nothing
///   broadcast        a block at the root     a block
///   reduce           a block                 a block at the root
///   all-reduce       a block                 a block
///   gather           a block                 n blocks at the root
///   scatter          n blocks at the root    a block
///   reduce-scatter   n blocks                a block
///   all-gather       a block                 n blocks
///   all-to-all       n blocks                n blocks
///
/// Blocks are in the order of ranks. In place, `in` and `out` share memory:
/// they are equal where they are as long, and else the shorter one is the
/// rank's own block of the longer one.
struct CollectiveCall {
  Operation operation = Operation::kAllReduce;
  Reduction reduction = Reduction::kSum;  // of operations that combine numbers
  DType type = DType::kFloat32;
  int64_t count = 0;
  int root = 0;
  std::span<const std::byte> in;
  std::span<std::byte> out;
};

/// True where a byte belongs to both spans.
inline bool ShareMemory(std::span<const std::byte> one,
                        std::span<const std::byte> other) {
  return !one.empty() && !other.empty() &&
         one.data() < other.data() + other.size() &&
         other.data() < one.data() + one.size();
}

/// Messages that a rank sends to other ranks, not to itself.
struct Traffic {
  int64_t bytes = 0;
  int64_t messages = 0;

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// A library's own count of the traffic of a rank.
struct Counted {
  Traffic sent;
  // Collectives whose messages the library does not see, and the bytes that the
  // rank passed to them. The messages of all others are in `sent`.
  int64_t collectives = 0;
  int64_t collective_bytes = 0;

  friend bool operator==(const Counted&, const Counted&) = default;
};

/// A nonblocking collective.
class Pending {
 public:
  virtual ~Pending() = default;
  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  /// Returns when the rank's part is done, with its Status.
  virtual Status Wait() = 0;
};

/// A topology: the ranks that a rank sends to and those that it receives from,
/// in two lists. Its neighbour collectives count among the collectives of the
/// communicator, which all ranks call in the same order.
class Neighbors {
 public:
  virtual ~Neighbors() = default;
  Neighbors() = default;
  Neighbors(const Neighbors&) = delete;
  Neighbors& operator=(const Neighbors&) = delete;
  /// A neighbour collective (MPI_Neighbor_alltoall): sends a block of `out` to
  /// each rank of the one list and receives a block of `in` from each rank of
  /// the other, in the order of the lists, and returns when the rank's part is
  /// done. Several blocks from one rank come in the order in which it sent
  /// them. Blocks of all ranks are equally long; `out` and `in` do not overlap.
  /// Errors as of BlockBytes.
  virtual Status Exchange(std::span<const std::byte> out,
                          std::span<std::byte> in) = 0;
  /// Begins the same exchange, which the result ends (Endpoint::Start).
  /// Unsupported where it is missing.
  virtual Result<std::unique_ptr<Pending>> Start(std::span<const std::byte> out,
                                                 std::span<std::byte> in) {
    static_cast<void>(out);
    static_cast<void>(in);
    return Unsupported(Reason::kOperator,
                       "the library has no exchange that does not wait");
  }
};

/// The bytes of a block in an exchange with so many neighbours. Invalid
/// argument unless `out` and `in` have a block for each, all equally long.
inline Result<size_t> BlockBytes(std::span<const std::byte> out, size_t to,
                                 std::span<const std::byte> in, size_t from) {
  const size_t block =
      to > 0 ? out.size() / to : in.size() / std::max<size_t>(from, 1);
  if (out.size() == to * block && in.size() == from * block) return block;
  return InvalidArgument("found ", out.size(), " bytes to ", to,
                         " neighbors and ", in.size(), " from ", from,
                         ", wanted a block for each, all equally long");
}

/// A communicator, as one of its ranks sees it. Used by one thread at a time.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Point-to-point (MPI_Sendrecv): sends `out` and receives `in`, in any
  /// order, and returns when both are done. Either may be kNobody; with the
  /// rank itself both are. The two do not overlap. Messages between two ranks
  /// keep their order. Data loss for a message of another length than `in`.
  virtual Status Exchange(int to, std::span<const std::byte> out, int from,
                          std::span<std::byte> in) = 0;
  /// Receives `in` from any rank, and returns which.
  virtual Result<int> ReceiveAny(std::span<std::byte> in) = 0;

  // The rest is optional, and unsupported where it is missing. Ranks call
  // collectives in the same order. No message of a collective is received by
  // the calls above, and none of theirs by a collective.

  /// A blocking collective: returns when the rank's part is done.
  virtual Status Collect(const CollectiveCall& call) {
    static_cast<void>(call);
    return Lacks("collectives of its own");
  }
  /// Begins a nonblocking collective. The memory is the library's until Wait
  /// has returned. Several may be under way, and be waited for in any order.
  virtual Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call) {
    static_cast<void>(call);
    return Lacks("collectives that do not wait");
  }
  /// A communicator of the ranks of the same color, in the order of their keys
  /// and, for equal keys, of their ranks (MPI_Comm_split). All ranks call it.
  /// Colors are from 0 on; a rank of kNoColor gets null. The result must not
  /// outlive this.
  virtual Result<std::unique_ptr<Endpoint>> Split(int color, int key) {
    static_cast<void>(color);
    static_cast<void>(key);
    return Lacks("communicators of some ranks");
  }
  /// Makes a topology of the ranks that this one sends to and those that it
  /// receives from (MPI_Dist_graph_create_adjacent). The rank may be among
  /// them, and name another one as often as that one names it in its other
  /// list. All ranks call it, also those without neighbours. The result must
  /// not outlive this.
  virtual Result<std::unique_ptr<Neighbors>> Connect(
      std::span<const int> to, std::span<const int> from) {
    static_cast<void>(to);
    static_cast<void>(from);
    return Lacks("exchange with neighbors");
  }
  /// The library's count of what this rank has sent so far, taken where
  /// messages leave the library. It may begin anywhere: the suite takes the
  /// difference of two. A rank has one count, also over the communicators that
  /// Split gives.
  virtual Result<Counted> counted() const {
    return Lacks("count of what it sent");
  }
  /// The library's clock where it simulates time, in seconds. All ranks of a
  /// run share it. It may begin anywhere: the suite takes the difference of two
  /// readings. Nothing where time is real.
  virtual std::optional<double> simulated_seconds() const {
    return std::nullopt;
  }
  /// The library's own handle of this communicator, for code that is written
  /// against the library: for modules of MPI a const MPI_Comm*; null where
  /// there is none. It lives as long as this.
  virtual const void* native_handle() const { return nullptr; }
  /// True for the reductions that the library's collectives have; the suite
  /// asks for no others. The first four, unless a module says otherwise.
  virtual bool has(Reduction reduction) const {
    return reduction <= Reduction::kMax;
  }

 private:
  static Status Lacks(const char* what) {
    return Unsupported(Reason::kOperator, "the library has no ", what);
  }
};

/// The end of one rank.
struct RankEnd {
  int rank = 0;
  Status status;
};

class Ranks {
 public:
  virtual ~Ranks() = default;
  /// True where ranks are processes, and this process has at most one. All
  /// processes call Run in the same order.
  virtual bool spans_processes() const { return false; }
  /// Runs `rank` as each of `count` ranks, and returns the ends of those that
  /// live in this process, when all of these have ended. Unsupported for more
  /// ranks than there can be. A rank whose others are gone, or that waits for
  /// ever, ends with an error.
  virtual Result<std::vector<RankEnd>> Run(
      int count, const std::function<Status(Endpoint&)>& rank) = 0;
};

/// A library that carries messages between ranks, and runs no model. A module
/// says its name, the library underneath and its ranks. It may be used from
/// several threads.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// The name it is selected by: lower case, stable.
  virtual std::string_view name() const = 0;

  /// Version and device, or `unavailable` with the reason.
  virtual Result<Probe> Inspect() = 0;

  /// The library's ranks, the same for the same settings. They live as long as
  /// this. Invalid argument for a setting that it has not.
  Result<Ranks*> ranks(const Settings& settings) {
    const std::vector<std::string> known = setting_names();
    for (const auto& [setting, value] : settings) {
      if (std::ranges::find(known, setting) == known.end()) {
        return InvalidArgument("backend '", name(), "' has no setting '",
                               setting, "'");
      }
    }
    return RanksWith(settings);
  }

 private:
  /// The names that settings may have.
  virtual std::vector<std::string> setting_names() const { return {}; }
  /// As ranks; of settings whose names are known.
  virtual Result<Ranks*> RanksWith(const Settings& settings) = 0;
};

}  // namespace assay::inline v1
