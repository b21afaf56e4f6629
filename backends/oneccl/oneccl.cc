// SPDX-License-Identifier: Apache-2.0
//
// oneCCL's collectives on CPUs, between processes whose messages Open MPI
// carries: oneCCL has no message between two ranks in host memory. Source:
// oneAPI specification 1.4, part oneCCL.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <oneapi/ccl.hpp>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/mpi_process/processes.h"
#include "backends/mpi_rank/call.h"
#include "backends/mpi_rank/endpoint.h"
#include "framework/backend/communicator.h"
#include "framework/backend/registry.h"
#include "framework/core/text.h"

// Symbols that the static libccl.a wants of Intel's compiler and of its tracing
// library: copies of memory, and entries that say that nothing traces.
extern "C" {

void* _intel_fast_memcpy(void* to, const void* from, size_t size) {
  return std::memcpy(to, from, size);
}
void* _intel_fast_memset(void* to, int byte, size_t size) {
  return std::memset(to, byte, size);
}

void* __itt_domain_create_ptr__3_0 = nullptr;
void* __itt_event_create_ptr__3_0 = nullptr;
void* __itt_event_end_ptr__3_0 = nullptr;
void* __itt_event_start_ptr__3_0 = nullptr;
void* __itt_metadata_add_ptr__3_0 = nullptr;
void* __itt_string_handle_create_ptr__3_0 = nullptr;
void* __itt_task_begin_ptr__3_0 = nullptr;
void* __itt_task_end_ptr__3_0 = nullptr;
void* __itt_thread_set_name_ptr__3_0 = nullptr;

}  // extern "C"

namespace assay::oneccl {
namespace {

Result<ccl::datatype> TypeOf(DType type) {
  using ccl::datatype;
  switch (type) {
    case DType::kFloat16:
      return datatype::float16;
    case DType::kBFloat16:
      return datatype::bfloat16;
    case DType::kFloat32:
      return datatype::float32;
    case DType::kFloat64:
      return datatype::float64;
    case DType::kInt8:
      return datatype::int8;
    case DType::kUint8:
      return datatype::uint8;
    case DType::kInt16:
      return datatype::int16;
    case DType::kUint16:
      return datatype::uint16;
    case DType::kInt32:
      return datatype::int32;
    case DType::kUint32:
      return datatype::uint32;
    case DType::kInt64:
      return datatype::int64;
    case DType::kUint64:
      return datatype::uint64;
    default:
      break;
  }
  return Unsupported(Reason::kDType, "found elements of ", ToString(type),
                     ", wanted a number of 8 bits or more");
}

ccl::reduction ReductionOf(Reduction of) {
  using ccl::reduction;
  if (of == Reduction::kSum) return reduction::sum;
  if (of == Reduction::kProduct) return reduction::prod;
  return of == Reduction::kMin ? reduction::min : reduction::max;
}

/// Turns an exception of oneCCL into a Status.
template <class Call>
auto Caught(Call call) -> decltype(call()) {
  try {
    return call();
  } catch (const ccl::exception& thrown) {
    return Internal("oneCCL: ", thrown.what());
  }
}

class Begun final : public Pending {
 public:
  explicit Begun(ccl::event event) : event_(std::move(event)) {}
  Status Wait() override {
    return Caught([&] {
      event_.wait();
      return OkStatus();
    });
  }

 private:
  ccl::event event_;
};

/// A communicator of oneCCL over the ranks of a communicator of MPI.
class Group {
 public:
  /// All ranks of the communicator call it. Rank 0 tells the others by MPI
  /// where oneCCL's ranks find each other. Internal where oneCCL throws.
  static Result<std::unique_ptr<Group>> Of(MPI_Comm ranks);

  Group(ccl::communicator group, int rank, int size)
      : group_(std::move(group)), rank_(rank), size_(size) {}

  /// Begins a collective. Unsupported for gather and scatter, which oneCCL
  /// lacks, and for types other than numbers of 8 bits or more; internal where
  /// oneCCL throws.
  Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call);

 private:
  Result<ccl::event> Begin(const CollectiveCall& call);

  ccl::communicator group_;
  const int rank_, size_;
};

Result<std::unique_ptr<Group>> Group::Of(MPI_Comm ranks) {
  int rank = 0, size = 0;
  ASSAY_MPI(MPI_Comm_rank, ranks, &rank);
  ASSAY_MPI(MPI_Comm_size, ranks, &size);
  return Caught([&]() -> Result<std::unique_ptr<Group>> {
    ccl::shared_ptr_class<ccl::kvs> place;
    ccl::kvs::address_type address{};
    if (rank == 0) {
      place = ccl::create_main_kvs();
      address = place->get_address();
    }
    ASSAY_ASSIGN_OR_RETURN(const int length, mpi_rank::CountOf(address.size()));
    ASSAY_MPI(MPI_Bcast, address.data(), length, MPI_BYTE, 0, ranks);
    if (rank > 0) place = ccl::create_kvs(address);
    return std::make_unique<Group>(ccl::create_communicator(size, rank, place),
                                   rank, size);
  });
}

Result<ccl::event> Group::Begin(const CollectiveCall& call) {
  ASSAY_ASSIGN_OR_RETURN(const ccl::datatype type, TypeOf(call.type));
  const ccl::reduction reduction = ReductionOf(call.reduction);
  const auto count = static_cast<size_t>(call.count);
  const std::byte* const in = call.in.data();
  std::byte* const out = call.out.data();
  switch (call.operation) {
    case Operation::kBarrier:
      return ccl::barrier(group_);
    case Operation::kBroadcast:
      if (rank_ == call.root && in != out) {
        std::ranges::copy(call.in, call.out.begin());
      }
      return ccl::broadcast(out, count, type, call.root, group_);
    case Operation::kReduce:
      return ccl::reduce(in, out, count, type, reduction, call.root, group_);
    case Operation::kAllReduce:
      return ccl::allreduce(in, out, count, type, reduction, group_);
    case Operation::kReduceScatter:
      return ccl::reduce_scatter(in, out, count, type, reduction, group_);
    case Operation::kAllGather:
      return ccl::allgather(in, out, count, type, group_);
    case Operation::kAllToAll:
      return ccl::alltoall(in, out, count, type, group_);
    case Operation::kGather:
    case Operation::kScatter:
      break;
  }
  return Unsupported(Reason::kOperator, "oneCCL has no ",
                     ToString(call.operation));
}

Result<std::unique_ptr<Pending>> Group::Start(const CollectiveCall& call) {
  ASSAY_RETURN_IF_ERROR(mpi_rank::CheckMemory(call, rank_, size_));
  ASSAY_ASSIGN_OR_RETURN(ccl::event event, Caught([&] { return Begin(call); }));
  return std::make_unique<Begun>(std::move(event));
}

/// A rank's messages are MPI's, its collectives oneCCL's.
class Rank final : public Endpoint {
 public:
  Rank(Endpoint& messages, Group& group) : messages_(messages), group_(group) {}

  int rank() const override { return messages_.rank(); }
  int size() const override { return messages_.size(); }
  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    return messages_.Exchange(to, out, from, in);
  }
  Result<int> ReceiveAny(std::span<std::byte> in) override {
    return messages_.ReceiveAny(in);
  }
  Status Collect(const CollectiveCall& call) override {
    ASSAY_ASSIGN_OR_RETURN(const auto pending, group_.Start(call));
    return pending->Wait();
  }
  Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call) override {
    return group_.Start(call);
  }

 private:
  Endpoint& messages_;
  Group& group_;
};

class OneCcl final : public mpi_process::MpiCommunicator {
 public:
  OneCcl()
      : MpiCommunicator([this](Endpoint& messages, const auto& rank) {
          Rank mine(messages, *groups_[static_cast<size_t>(messages.size())]);
          return rank(mine);
        }) {}

  std::string_view name() const override { return "oneccl"; }

  /// Makes the groups of all sizes, so that what they start is there before the
  /// first case.
  Result<Probe> Inspect() override {
    ASSAY_ASSIGN_OR_RETURN(mpi_process::World* const world,
                           mpi_process::World::Get());
    ccl::init();
    for (int count = std::ssize(groups_); count <= world->size(); ++count) {
      auto& group = groups_.emplace_back();
      if (count == 0 || world->First(count) == MPI_COMM_NULL) continue;
      ASSAY_ASSIGN_OR_RETURN(group, Group::Of(world->First(count)));
    }
    const ccl::library_version version = ccl::get_library_version();
    return Probe{StrCat(version.major, ".", version.minor, ".", version.update),
                 "cpu"};
  }

 private:
  std::vector<std::unique_ptr<Group>> groups_;  // by number of ranks
};

ASSAY_REGISTER_COMMUNICATOR(OneCcl);

}  // namespace
}  // namespace assay::oneccl
