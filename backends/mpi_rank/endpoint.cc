// SPDX-License-Identifier: Apache-2.0
//
// Source: MPI: A Message-Passing Interface Standard, version 3.1, sections
// 3.7, 5.12, 7.5.4 and 7.7.

#include "backends/mpi_rank/endpoint.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay::mpi_rank {
namespace {

/// Blocks of a rank's memory.
struct Blocks {
  size_t in = 0, out = 0;
};

Blocks BlocksOf(Operation operation, size_t ranks, bool is_root) {
  switch (operation) {
    case Operation::kBarrier:
      return {0, 0};
    case Operation::kBroadcast:
      return {is_root ? 1U : 0U, 1};
    case Operation::kReduce:
      return {1, is_root ? 1U : 0U};
    case Operation::kAllReduce:
      return {1, 1};
    case Operation::kGather:
      return {1, is_root ? ranks : 0};
    case Operation::kScatter:
      return {is_root ? ranks : 0, 1};
    case Operation::kReduceScatter:
      return {ranks, 1};
    case Operation::kAllGather:
      return {1, ranks};
    case Operation::kAllToAll:
      break;
  }
  return {ranks, ranks};
}

bool Combines(Operation operation) {
  return operation == Operation::kReduce ||
         operation == Operation::kAllReduce ||
         operation == Operation::kReduceScatter;
}

/// A float of 16 bits, which MPI 3.1 has not, travels as an integer of as many.
Result<MPI_Datatype> TypeOf(DType type, bool is_combined) {
  switch (type) {
    case DType::kFloat32:
      return MPI_FLOAT;
    case DType::kFloat64:
      return MPI_DOUBLE;
    case DType::kInt8:
      return MPI_INT8_T;
    case DType::kInt16:
      return MPI_INT16_T;
    case DType::kInt32:
      return MPI_INT32_T;
    case DType::kInt64:
      return MPI_INT64_T;
    case DType::kUint8:
      return MPI_UINT8_T;
    case DType::kUint16:
      return MPI_UINT16_T;
    case DType::kUint32:
      return MPI_UINT32_T;
    case DType::kUint64:
      return MPI_UINT64_T;
    case DType::kFloat16:
    case DType::kBFloat16:
      if (!is_combined) return MPI_UINT16_T;
      break;
    default:
      break;
  }
  return Unsupported(Reason::kDType, "found elements of ", ToString(type),
                     ", wanted float32, float64 or an integer");
}

/// MPI hands over the numbers of lower ranks as `in`.
void Compose(void* in, void* in_out, int* count, MPI_Datatype*) {
  const auto* const first = static_cast<const uint64_t*>(in);
  auto* const second = static_cast<uint64_t*>(in_out);
  for (int i = 0; i < *count; ++i) second[i] = Composed(first[i], second[i]);
}

/// A reduction as MPI's.
class Op {
 public:
  Op() = default;
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  ~Op() {
    if (is_own_) MPI_Op_free(&op_);
  }

  Status Set(Reduction reduction) {
    if (reduction == Reduction::kCompose) {
      ASSAY_MPI(MPI_Op_create, &Compose, /*commute=*/0, &op_);
      is_own_ = true;
      return OkStatus();
    }
    const std::array<MPI_Op, 10> ops = {MPI_SUM,  MPI_PROD, MPI_MIN,  MPI_MAX,
                                        MPI_BAND, MPI_BOR,  MPI_BXOR, MPI_LAND,
                                        MPI_LOR,  MPI_LXOR};
    op_ = ops[static_cast<size_t>(reduction)];
    return OkStatus();
  }
  MPI_Op get() const { return op_; }

 private:
  MPI_Op op_ = MPI_OP_NULL;
  bool is_own_ = false;
};

class MpiCollective final : public Pending {
 public:
  /// `blocks`: the call that begins it returns when the rank's part is done.
  MpiCollective(MPI_Comm group, const CollectiveCall& call, Waiting& waiting,
                bool blocks)
      : group_(group), call_(call), waiting_(waiting), blocks_(blocks) {}

  Status Begin();
  Status Wait() override;

 private:
  /// MPI has a broadcast in place alone, and puts the result of an in-place
  /// reduce-scatter in front of its memory, from where Finish moves it.
  void Arrange();
  Status Call();
  void Finish() const;
  template <class Start, class Run, class... Arguments>
  Status Do(const char* name, Start start, Run run, Arguments... arguments);

  const MPI_Comm group_;
  const CollectiveCall call_;
  Waiting& waiting_;
  const bool blocks_;
  Op op_;
  int size_ = 0, rank_ = 0, count_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
  const void* in_ = nullptr;
  void* out_ = nullptr;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

void MpiCollective::Arrange() {
  in_ = call_.in.data();
  out_ = call_.out.data();
  if (call_.operation == Operation::kBroadcast) {
    if (rank_ == call_.root && in_ != out_) {
      std::ranges::copy(call_.in, call_.out.begin());
    }
    return;
  }
  if (!ShareMemory(call_.in, call_.out)) return;
  if (call_.operation == Operation::kScatter) {
    out_ = MPI_IN_PLACE;
    return;
  }
  in_ = MPI_IN_PLACE;
  if (call_.operation == Operation::kReduceScatter) {
    out_ = call_.out.data() - call_.out.size() * static_cast<size_t>(rank_);
  }
}

void MpiCollective::Finish() const {
  if (in_ == MPI_IN_PLACE && call_.operation == Operation::kReduceScatter) {
    std::memmove(call_.out.data(), out_, call_.out.size());
  }
}

template <class Start, class Run, class... Arguments>
Status MpiCollective::Do(const char* name, Start start, Run run,
                         Arguments... arguments) {
  if (!blocks_) return Checked(start(arguments..., &request_), name);
  return waiting_.During({.collective = call_.operation},
                         [&] { return Checked(run(arguments...), name); });
}

Status MpiCollective::Call() {
  const int root = call_.root;
  const MPI_Op op = op_.get();
  switch (call_.operation) {
    case Operation::kBarrier:
      return Do("MPI_Barrier", MPI_Ibarrier, MPI_Barrier, group_);
    case Operation::kBroadcast:
      return Do("MPI_Bcast", MPI_Ibcast, MPI_Bcast, out_, count_, type_, root,
                group_);
    case Operation::kReduce:
      return Do("MPI_Reduce", MPI_Ireduce, MPI_Reduce, in_, out_, count_, type_,
                op, root, group_);
    case Operation::kAllReduce:
      return Do("MPI_Allreduce", MPI_Iallreduce, MPI_Allreduce, in_, out_,
                count_, type_, op, group_);
    case Operation::kGather:
      return Do("MPI_Gather", MPI_Igather, MPI_Gather, in_, count_, type_, out_,
                count_, type_, root, group_);
    case Operation::kScatter:
      return Do("MPI_Scatter", MPI_Iscatter, MPI_Scatter, in_, count_, type_,
                out_, count_, type_, root, group_);
    case Operation::kReduceScatter:
      return Do("MPI_Reduce_scatter_block", MPI_Ireduce_scatter_block,
                MPI_Reduce_scatter_block, in_, out_, count_, type_, op, group_);
    case Operation::kAllGather:
      return Do("MPI_Allgather", MPI_Iallgather, MPI_Allgather, in_, count_,
                type_, out_, count_, type_, group_);
    case Operation::kAllToAll:
      return Do("MPI_Alltoall", MPI_Ialltoall, MPI_Alltoall, in_, count_, type_,
                out_, count_, type_, group_);
  }
  return Internal("found an operation of no name");
}

Status MpiCollective::Begin() {
  ASSAY_MPI(MPI_Comm_size, group_, &size_);
  ASSAY_MPI(MPI_Comm_rank, group_, &rank_);
  const bool combines = Combines(call_.operation);
  ASSAY_ASSIGN_OR_RETURN(type_, TypeOf(call_.type, combines));
  if (combines) ASSAY_RETURN_IF_ERROR(op_.Set(call_.reduction));
  ASSAY_ASSIGN_OR_RETURN(count_, CountOf(static_cast<size_t>(call_.count)));
  ASSAY_RETURN_IF_ERROR(CheckMemory(call_, rank_, size_));
  Arrange();
  ASSAY_RETURN_IF_ERROR(Call());
  if (blocks_) Finish();
  return OkStatus();
}

Status MpiCollective::Wait() {
  ASSAY_RETURN_IF_ERROR(WaitForCollective(
      group_, &request_, {.collective = call_.operation}, waiting_));
  Finish();
  return OkStatus();
}

class MpiExchange final : public Pending {
 public:
  MpiExchange(MPI_Comm graph, Waiting& waiting)
      : graph_(graph), waiting_(waiting) {}

  MPI_Request* request() { return &request_; }
  Status Wait() override {
    return WaitForCollective(graph_, &request_, {.neighbors = true}, waiting_);
  }

 private:
  const MPI_Comm graph_;
  Waiting& waiting_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class MpiNeighbors final : public Neighbors {
 public:
  MpiNeighbors(MPI_Comm graph, size_t to, size_t from, Waiting& waiting)
      : graph_(graph), to_(to), from_(from), waiting_(waiting) {}
  ~MpiNeighbors() override { MPI_Comm_free(&graph_); }

  Status Exchange(std::span<const std::byte> out,
                  std::span<std::byte> in) override {
    ASSAY_ASSIGN_OR_RETURN(const size_t block, BlockBytes(out, to_, in, from_));
    ASSAY_ASSIGN_OR_RETURN(const int count, CountOf(block));
    return waiting_.During({.neighbors = true}, [&]() -> Status {
      ASSAY_MPI(MPI_Neighbor_alltoall, out.data(), count, MPI_BYTE, in.data(),
                count, MPI_BYTE, graph_);
      return OkStatus();
    });
  }

  Result<std::unique_ptr<Pending>> Start(std::span<const std::byte> out,
                                         std::span<std::byte> in) override {
    ASSAY_ASSIGN_OR_RETURN(const size_t block, BlockBytes(out, to_, in, from_));
    ASSAY_ASSIGN_OR_RETURN(const int count, CountOf(block));
    auto begun = std::make_unique<MpiExchange>(graph_, waiting_);
    ASSAY_MPI(MPI_Ineighbor_alltoall, out.data(), count, MPI_BYTE, in.data(),
              count, MPI_BYTE, graph_, begun->request());
    return std::unique_ptr<Pending>(std::move(begun));
  }

 private:
  MPI_Comm graph_;
  const size_t to_, from_;  // how many there are
  Waiting& waiting_;
};

Status CheckLength(const MPI_Status& status, int wanted) {
  int got = 0;
  ASSAY_MPI(MPI_Get_count, &status, MPI_BYTE, &got);
  if (got == wanted) return OkStatus();
  return DataLoss("rank ", status.MPI_SOURCE, " sent ", got, " bytes, wanted ",
                  wanted);
}

void Cancel(std::array<MPI_Request, 2>& requests) {
  for (MPI_Request& request : requests) {
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&request);
    MPI_Request_free(&request);
  }
}

}  // namespace

Status WaitForCollective(MPI_Comm group, MPI_Request* request,
                         const Awaited& awaited, Waiting& waiting) {
  MPI_Status ended;
  const Status waited =
      waiting.ForAll(std::span(request, 1), std::span(&ended, 1), awaited);
  if (waited.code() != StatusCode::kFailedPrecondition) return waited;
  int rank = 0;
  ASSAY_MPI(MPI_Comm_rank, group, &rank);
  std::fprintf(stderr, "rank %d: %s\n", rank, waited.message().c_str());
  std::abort();
}

std::string ErrorText(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return std::string(text.data(), static_cast<size_t>(length));
}

Status Checked(int code, const char* call) {
  if (code == MPI_SUCCESS) return OkStatus();
  return Internal(call, ": ", ErrorText(code));
}

Result<int> CountOf(size_t count) {
  if (count > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return Unsupported(Reason::kShape, "found the count ", count,
                       ", wanted one below 2^31");
  }
  return static_cast<int>(count);
}

Status CheckMemory(const CollectiveCall& call, int rank, int ranks) {
  const Blocks blocks =
      BlocksOf(call.operation, static_cast<size_t>(ranks), rank == call.root);
  const size_t block = static_cast<size_t>(call.count) *
                       static_cast<size_t>(BitsOf(call.type)) / 8;
  if (call.in.size() == blocks.in * block &&
      call.out.size() == blocks.out * block) {
    return OkStatus();
  }
  return InvalidArgument("found ", call.in.size(), " bytes of input and ",
                         call.out.size(), " of output for ",
                         ToString(call.operation), ", wanted ",
                         blocks.in * block, " and ", blocks.out * block);
}

Result<std::unique_ptr<MpiEndpoint>> MpiEndpoint::Of(MPI_Comm group, int tag,
                                                     Waiting& waiting,
                                                     bool owns) {
  std::unique_ptr<MpiEndpoint> made(new MpiEndpoint(group, tag, waiting, owns));
  ASSAY_MPI(MPI_Comm_set_errhandler, group, MPI_ERRORS_RETURN);
  ASSAY_MPI(MPI_Comm_size, group, &made->size_);
  ASSAY_MPI(MPI_Comm_rank, group, &made->rank_);
  return made;
}

MpiEndpoint::~MpiEndpoint() {
  // Waits for no other rank here: they may have given up.
  if (owns_) MPI_Comm_free(&group_);
}

Status MpiEndpoint::Wait(std::array<MPI_Request, 2>& requests,
                         std::array<MPI_Status, 2>& ended,
                         const Awaited& awaited) {
  const Status waited = waiting_.ForAll(requests, ended, awaited);
  if (waited.code() == StatusCode::kFailedPrecondition) Cancel(requests);
  return waited;
}

Status MpiEndpoint::Exchange(int to, std::span<const std::byte> out, int from,
                             std::span<std::byte> in) {
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::array<MPI_Status, 2> ended{};
  ASSAY_ASSIGN_OR_RETURN(const int sent, CountOf(out.size()));
  ASSAY_ASSIGN_OR_RETURN(const int wanted, CountOf(in.size()));
  if (from != kNobody) {
    ASSAY_MPI(MPI_Irecv, in.data(), wanted, MPI_BYTE, from, tag_, group_,
              requests.data());
  }
  if (to != kNobody) {
    ASSAY_MPI(MPI_Isend, out.data(), sent, MPI_BYTE, to, tag_, group_,
              &requests[1]);
  }
  ASSAY_RETURN_IF_ERROR(Wait(requests, ended, {.from = from, .to = to}));
  return from == kNobody ? OkStatus() : CheckLength(ended[0], wanted);
}

Result<int> MpiEndpoint::ReceiveAny(std::span<std::byte> in) {
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::array<MPI_Status, 2> ended{};
  ASSAY_ASSIGN_OR_RETURN(const int wanted, CountOf(in.size()));
  ASSAY_MPI(MPI_Irecv, in.data(), wanted, MPI_BYTE, MPI_ANY_SOURCE, tag_,
            group_, requests.data());
  ASSAY_RETURN_IF_ERROR(Wait(requests, ended, {.from = kAnybody}));
  ASSAY_RETURN_IF_ERROR(CheckLength(ended[0], wanted));
  return ended[0].MPI_SOURCE;
}

Status MpiEndpoint::Collect(const CollectiveCall& call) {
  return MpiCollective(group_, call, waiting_, /*blocks=*/true).Begin();
}

Result<std::unique_ptr<Pending>> MpiEndpoint::Start(
    const CollectiveCall& call) {
  auto made = std::make_unique<MpiCollective>(group_, call, waiting_,
                                              /*blocks=*/false);
  ASSAY_RETURN_IF_ERROR(made->Begin());
  return std::unique_ptr<Pending>(std::move(made));
}

Result<std::unique_ptr<Endpoint>> MpiEndpoint::Split(int color, int key) {
  MPI_Comm some = MPI_COMM_NULL;
  ASSAY_MPI(MPI_Comm_split, group_, color == kNoColor ? MPI_UNDEFINED : color,
            key, &some);
  // Open MPI 4.1.4 dies of a message that comes before its communicator is
  // there.
  ASSAY_MPI(MPI_Barrier, group_);
  if (some == MPI_COMM_NULL) return std::unique_ptr<Endpoint>();
  ASSAY_ASSIGN_OR_RETURN(auto made, Of(some, tag_, waiting_, /*owns=*/true));
  return std::unique_ptr<Endpoint>(std::move(made));
}

Result<std::unique_ptr<Neighbors>> MpiEndpoint::Connect(
    std::span<const int> to, std::span<const int> from) {
  if (!waiting_.HasNeighbors()) return Endpoint::Connect(to, from);
  ASSAY_ASSIGN_OR_RETURN(const int sources, CountOf(from.size()));
  ASSAY_ASSIGN_OR_RETURN(const int destinations, CountOf(to.size()));
  MPI_Comm graph = MPI_COMM_NULL;
  ASSAY_MPI(MPI_Dist_graph_create_adjacent, group_, sources, from.data(),
            MPI_UNWEIGHTED, destinations, to.data(), MPI_UNWEIGHTED,
            MPI_INFO_NULL, /*reorder=*/0, &graph);
  auto made =
      std::make_unique<MpiNeighbors>(graph, to.size(), from.size(), waiting_);
  ASSAY_MPI(MPI_Comm_set_errhandler, graph, MPI_ERRORS_RETURN);
  // Open MPI 4.1.4 dies of a message that comes before its communicator is
  // there.
  ASSAY_MPI(MPI_Barrier, group_);
  return std::unique_ptr<Neighbors>(std::move(made));
}

}  // namespace assay::mpi_rank
