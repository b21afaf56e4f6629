// SPDX-License-Identifier: Apache-2.0

#include "backends/smpi/machine.h"

#include <mpi.h>
#include <smpi/smpi.h>

#include <array>
#include <csignal>
#include <optional>
#include <simgrid/s4u.hpp>
#include <span>
#include <string>

#include "backends/mpi_rank/call.h"
#include "backends/mpi_rank/endpoint.h"
#include "framework/core/text.h"

namespace assay::smpi {
namespace {

namespace s4u = simgrid::s4u;

// A message takes latency + size / bandwidth, as in the formulas of the field,
// and a send completes once its receiver waits for it: a program that relies on
// buffered messages deadlocks.
constexpr std::array kSettings = {
    "assay",
    "--cfg=contexts/factory:raw",
    "--cfg=contexts/stack-size:1024",  // KiB
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/async-small-thresh:0",
    "--cfg=smpi/send-is-detached-thresh:0",
    "--cfg=network/model:CM02",
    "--cfg=network/crosstraffic:0",
    "--log=root.thresh:critical",
};

/// SMPI 3.32 keeps a rank that has ended, with its stack, as receiver of its
/// mailboxes.
void Forget(aid_t rank) {
  for (const char* const kind : {"SMPI-", "small-"}) {
    s4u::Mailbox::by_name(StrCat(kind, rank))->set_receiver(nullptr);
  }
}

/// Never destroyed: its end would end other parts of the simulation, in an
/// order that is not specified.
s4u::Engine& NewEngine() {
  std::vector<char*> arguments;
  for (const char* const setting : kSettings) {
    arguments.push_back(const_cast<char*>(setting));
  }
  arguments.push_back(nullptr);
  auto count = static_cast<int>(kSettings.size());
  return *new s4u::Engine(&count, arguments.data());
}

/// The waiting of a rank: the simulation knows when no message can come.
class Rank final : public mpi_rank::Waiting {
 public:
  Status ForAll(std::span<MPI_Request> requests, std::span<MPI_Status> ended,
                const mpi_rank::Awaited& awaited) override {
    awaited_ = awaited;
    ASSAY_ASSIGN_OR_RETURN(const int count, mpi_rank::CountOf(requests.size()));
    const int code = MPI_Waitall(count, requests.data(), ended.data());
    awaited_.reset();
    return mpi_rank::Checked(code, "MPI_Waitall");
  }

  Status During(const mpi_rank::Awaited& awaited,
                const std::function<Status()>& call) override {
    awaited_ = awaited;
    Status status = call();
    awaited_.reset();
    return status;
  }

  std::optional<double> simulated_seconds() const override {
    return Machine::Get().seconds();
  }
  /// SMPI 3.32 declares MPI's neighbour collectives, and ends the process where
  /// they are called.
  bool HasNeighbors() const override { return false; }

  void Run(const std::function<Status(Endpoint&)>& rank) {
    status_ = RunIn(rank);
  }

  /// The rank's Status; nothing where it has not ended.
  const std::optional<Status>& status() const { return status_; }
  std::string awaited() const {
    return awaited_.has_value() ? awaited_->text() : "in a call of MPI";
  }

 private:
  Status RunIn(const std::function<Status(Endpoint&)>& rank) {
    // SMPI 3.32 crashes on a message from MPI_ANY_SOURCE in MPI_COMM_WORLD
    // itself, which is another communicator for each rank.
    MPI_Comm world = MPI_COMM_NULL;
    ASSAY_MPI(MPI_Comm_dup, MPI_COMM_WORLD, &world);
    ASSAY_ASSIGN_OR_RETURN(
        const auto endpoint,
        mpi_rank::MpiEndpoint::Of(world, /*tag=*/0, *this, /*owns=*/true));
    return rank(*endpoint);
  }

  std::optional<mpi_rank::Awaited> awaited_;
  std::optional<Status> status_;
};

/// The reason of ranks that did not end: the first rank that failed, or who
/// waits for what.
Status WhyOf(std::span<const Rank> ranks) {
  constexpr size_t kMostNamed = 8;
  std::vector<std::string> texts;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const std::optional<Status>& status = ranks[i].status();
    if (status.has_value() && !status->ok()) {
      return Cancelled("rank ", i, ": ", status->message());
    }
    if (!status.has_value()) {
      texts.push_back(StrCat("rank ", i, " waits ", ranks[i].awaited()));
    }
  }
  if (texts.size() > kMostNamed) {
    const size_t others = texts.size() - kMostNamed;
    texts.resize(kMostNamed);
    texts.push_back(StrCat("and ", others, " more"));
  }
  return FailedPrecondition("ranks stand still: ", Joined(texts, "; "));
}

}  // namespace

Machine& Machine::Get() {
  static Machine* const machine = [] {
    constexpr std::array kSignals = {SIGINT, SIGSEGV, SIGBUS, SIGABRT};
    std::array<struct sigaction, kSignals.size()> before{};
    for (size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], nullptr, &before[i]);
    }
    auto* const made = new Machine();
    for (size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], &before[i], nullptr);
    }
    return made;
  }();
  return *machine;
}

Machine::Machine() : engine_(NewEngine()) {
  s4u::NetZone* const zone = s4u::create_star_zone("machine");
  for (int i = 0; i < kMostRanks; ++i) {
    constexpr double kFlops = 1e9;
    s4u::Host* const host = zone->create_host(StrCat("host", i), kFlops);
    const s4u::Link* const link =
        zone->create_split_duplex_link(StrCat("link", i), kLinkBytesPerSecond)
            ->set_latency(kLinkSeconds)
            ->seal();
    const s4u::LinkInRoute route(link, s4u::LinkInRoute::Direction::UP);
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {route},
                    true);
    hosts_.push_back(host);
  }
  zone->seal();
  SMPI_init();
}

void Machine::Run(int count, const std::function<void(int rank)>& rank) {
  const std::string world = StrCat("run", runs_++);
  SMPI_app_instance_register(world.c_str(), nullptr, count);
  std::vector<aid_t> ranks;
  for (int i = 0; i < count; ++i) {
    const s4u::ActorPtr actor =
        s4u::Actor::init(StrCat("rank", i), hosts_[static_cast<size_t>(i)]);
    actor->set_property("instance_id", world);
    actor->set_property("rank", StrCat(i));
    actor->start([&, i] {
      MPI_Init(nullptr, nullptr);
      rank(i);
      MPI_Finalize();
    });
    ranks.push_back(actor->get_pid());
  }
  engine_.run();
  for (const aid_t each : ranks) Forget(each);
}

double Machine::seconds() const { return s4u::Engine::get_clock(); }

Result<std::vector<RankEnd>> SmpiRanks::Run(
    int count, const std::function<Status(Endpoint&)>& rank) {
  if (count < 1 || count > kMostRanks) {
    return Unsupported(Reason::kShape, "found ", count, " ranks, wanted 1 to ",
                       kMostRanks);
  }
  std::vector<Rank> ranks(static_cast<size_t>(count));
  Machine::Get().Run(count,
                     [&](int i) { ranks[static_cast<size_t>(i)].Run(rank); });
  const Status why = WhyOf(ranks);
  std::vector<RankEnd> ended;
  for (const Rank& each : ranks) {
    ended.push_back(
        {static_cast<int>(ended.size()), each.status().value_or(why)});
  }
  return ended;
}

}  // namespace assay::smpi
