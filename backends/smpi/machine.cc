// SPDX-License-Identifier: Apache-2.0

#include "backends/smpi/machine.h"

#include <mpi.h>
#include <smpi/smpi.h>

#include <array>
#include <csignal>
#include <simgrid/s4u.hpp>

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

/// Signal handlers of the process, as they were.
class Handlers {
 public:
  Handlers() {
    for (size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], nullptr, &before_[i]);
    }
  }
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;
  ~Handlers() {
    for (size_t i = 0; i < kSignals.size(); ++i) {
      sigaction(kSignals[i], &before_[i], nullptr);
    }
  }

 private:
  static constexpr std::array kSignals = {SIGINT, SIGSEGV, SIGBUS, SIGABRT};

  std::array<struct sigaction, kSignals.size()> before_{};
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

}  // namespace

Machine& Machine::Get() {
  static Machine& machine = [&]() -> Machine& {
    const Handlers kept;
    return *new Machine();
  }();
  return machine;
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

}  // namespace assay::smpi
