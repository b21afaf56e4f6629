// SPDX-License-Identifier: Apache-2.0
//
// Source: MPI: A Message-Passing Interface Standard, version 3.1, section 5.12.

#include "backends/openmpi/mpi_collective.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "backends/openmpi/mpi_call.h"

namespace assay::openmpi {
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

class MpiCollective final : public Pending {
 public:
  MpiCollective(MPI_Comm group, const CollectiveCall& call)
      : group_(group), call_(call) {}

  Status Begin();
  Status Wait() override;

 private:
  Status CheckMemory() const;
  /// MPI has the result of a reduce-scatter in place elsewhere than we, and has none of a
  /// broadcast that is not.
  void Arrange();
  Status Call();

  const MPI_Comm group_;
  const CollectiveCall call_;
  int size_ = 0, rank_ = 0, count_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
  std::vector<std::byte> copy_;  // of the input
  const void* in_ = nullptr;
  void* out_ = nullptr;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

Status MpiCollective::CheckMemory() const {
  const Blocks blocks = BlocksOf(call_.operation, static_cast<size_t>(size_),
                                 rank_ == call_.root);
  const size_t block = static_cast<size_t>(call_.count) *
                       static_cast<size_t>(BitsOf(call_.type)) / 8;
  if (call_.in.size() == blocks.in * block &&
      call_.out.size() == blocks.out * block) {
    return OkStatus();
  }
  return InvalidArgument("found ", call_.in.size(), " bytes of input and ",
                         call_.out.size(), " of output for ",
                         ToString(call_.operation), ", wanted ",
                         blocks.in * block, " and ", blocks.out * block);
}

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

Status MpiCollective::Call() {
  const int root = call_.root;
  const MPI_Op op = OpOf(call_.reduction);
  switch (call_.operation) {
    case Operation::kBarrier:
      ASSAY_MPI(MPI_Ibarrier, group_, &request_);
      break;
    case Operation::kBroadcast:
      ASSAY_MPI(MPI_Ibcast, out_, count_, type_, root, group_, &request_);
      break;
    case Operation::kReduce:
      ASSAY_MPI(MPI_Ireduce, in_, out_, count_, type_, op, root, group_,
                &request_);
      break;
    case Operation::kAllReduce:
      ASSAY_MPI(MPI_Iallreduce, in_, out_, count_, type_, op, group_,
                &request_);
      break;
    case Operation::kGather:
      ASSAY_MPI(MPI_Igather, in_, count_, type_, out_, count_, type_, root,
                group_, &request_);
      break;
    case Operation::kScatter:
      ASSAY_MPI(MPI_Iscatter, in_, count_, type_, out_, count_, type_, root,
                group_, &request_);
      break;
    case Operation::kReduceScatter:
      ASSAY_MPI(MPI_Ireduce_scatter_block, in_, out_, count_, type_, op, group_,
                &request_);
      break;
    case Operation::kAllGather:
      ASSAY_MPI(MPI_Iallgather, in_, count_, type_, out_, count_, type_, group_,
                &request_);
      break;
    case Operation::kAllToAll:
      ASSAY_MPI(MPI_Ialltoall, in_, count_, type_, out_, count_, type_, group_,
                &request_);
      break;
  }
  return OkStatus();
}

Status MpiCollective::Begin() {
  ASSAY_MPI(MPI_Comm_size, group_, &size_);
  ASSAY_MPI(MPI_Comm_rank, group_, &rank_);
  ASSAY_ASSIGN_OR_RETURN(type_, TypeOf(call_.type));
  ASSAY_ASSIGN_OR_RETURN(count_, CountOf(static_cast<size_t>(call_.count)));
  ASSAY_RETURN_IF_ERROR(CheckMemory());
  Arrange();
  return Call();
}

Status MpiCollective::Wait() {
  ASSAY_ASSIGN_OR_RETURN(
      const bool is_done, IsDoneInTime([&]() -> Result<bool> {
        int is_over = 0;
        ASSAY_MPI(MPI_Test, &request_, &is_over, MPI_STATUS_IGNORE);
        return is_over != 0;
      }));
  if (is_done) return OkStatus();
  // MPI cancels no collective, which would write into memory that is another's by then.
  std::fprintf(stderr, "openmpi: rank %d waited more than %ld s in %s\n", rank_,
               static_cast<long>(kPatience.count()),
               std::string(ToString(call_.operation)).c_str());
  std::abort();
}

}  // namespace

Result<std::unique_ptr<Pending>> StartCollective(MPI_Comm group,
                                                 const CollectiveCall& call) {
  auto made = std::make_unique<MpiCollective>(group, call);
  ASSAY_RETURN_IF_ERROR(made->Begin());
  return std::unique_ptr<Pending>(std::move(made));
}

}  // namespace assay::openmpi
