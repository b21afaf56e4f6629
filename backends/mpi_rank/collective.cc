// SPDX-License-Identifier: Apache-2.0
//
// Source: MPI: A Message-Passing Interface Standard, version 3.1, section 5.12.

#include "backends/mpi_rank/collective.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "backends/mpi_rank/call.h"
#include "backends/mpi_rank/memory.h"

namespace assay::mpi_rank {
namespace {

Result<MPI_Datatype> TypeOf(DType type) {
  switch (type) {
    case DType::kFloat32:
      return MPI_FLOAT;
    case DType::kFloat64:
      return MPI_DOUBLE;
    case DType::kInt32:
      return MPI_INT32_T;
    case DType::kInt64:
      return MPI_INT64_T;
    default:
      return Unsupported(Reason::kDType, "found elements of ", ToString(type),
                         ", wanted float32, float64, int32 or int64");
  }
}

MPI_Op OpOf(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
      return MPI_SUM;
    case Reduction::kProduct:
      return MPI_PROD;
    case Reduction::kMin:
      return MPI_MIN;
    case Reduction::kMax:
      break;
  }
  return MPI_MAX;
}

class MpiCollective final : public Pending {
 public:
  /// `blocks`: the call that begins it returns when the rank's part is done.
  MpiCollective(MPI_Comm group, const CollectiveCall& call, Waiting& waiting,
                bool blocks)
      : group_(group), call_(call), waiting_(waiting), blocks_(blocks) {}

  Status Begin();
  Status Wait() override;

 private:
  /// MPI puts the result of an in-place reduce-scatter elsewhere than Collect
  /// does, and has a broadcast in place alone.
  void Arrange();
  Status Call();
  template <class Start, class Run, class... Arguments>
  Status Do(const char* name, Start start, Run run, Arguments... arguments);

  const MPI_Comm group_;
  const CollectiveCall call_;
  Waiting& waiting_;
  const bool blocks_;
  int size_ = 0, rank_ = 0, count_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
  std::vector<std::byte> copy_;  // the input's
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
  if (call_.operation == Operation::kReduceScatter) {
    copy_.assign(call_.in.begin(), call_.in.end());
    in_ = copy_.data();
  } else if (call_.operation == Operation::kScatter) {
    out_ = MPI_IN_PLACE;
  } else {
    in_ = MPI_IN_PLACE;
  }
}

template <class Start, class Run, class... Arguments>
Status MpiCollective::Do(const char* name, Start start, Run run,
                         Arguments... arguments) {
  return Checked(blocks_ ? run(arguments...) : start(arguments..., &request_),
                 name);
}

Status MpiCollective::Call() {
  const int root = call_.root;
  const MPI_Op op = OpOf(call_.reduction);
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
  ASSAY_ASSIGN_OR_RETURN(type_, TypeOf(call_.type));
  ASSAY_ASSIGN_OR_RETURN(count_, CountOf(static_cast<size_t>(call_.count)));
  ASSAY_RETURN_IF_ERROR(CheckMemory(call_, rank_, size_));
  Arrange();
  return Call();
}

Status MpiCollective::Wait() {
  return WaitForCollective(group_, &request_, {.collective = call_.operation},
                           waiting_);
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

Result<std::unique_ptr<Pending>> StartCollective(MPI_Comm group,
                                                 const CollectiveCall& call,
                                                 Waiting& waiting) {
  auto made = std::make_unique<MpiCollective>(group, call, waiting,
                                              /*blocks=*/false);
  ASSAY_RETURN_IF_ERROR(made->Begin());
  return std::unique_ptr<Pending>(std::move(made));
}

Status RunCollective(MPI_Comm group, const CollectiveCall& call,
                     Waiting& waiting) {
  return MpiCollective(group, call, waiting, /*blocks=*/true).Begin();
}

}  // namespace assay::mpi_rank
