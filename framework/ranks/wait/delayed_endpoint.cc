// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/wait/delayed_endpoint.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "framework/core/numbers.h"

namespace assay::ranks {
namespace {

constexpr int64_t kMostUs = 100'000;
constexpr double kMeanShare = 0.2;  // of an exponential delay

Status Check(const Delays& delays, int ranks) {
  if (!(delays.fraction >= 0 && delays.fraction <= 1)) {
    return InvalidArgument("found ", delays.fraction,
                           " of all calls delayed, wanted 0 to 1");
  }
  if (delays.most_us < 0 || delays.most_us > kMostUs) {
    return InvalidArgument("found a longest delay of ", delays.most_us,
                           " us, wanted 0 to ", kMostUs);
  }
  if (delays.straggler < kNobody || delays.straggler >= ranks) {
    return InvalidArgument("found the straggler ", delays.straggler,
                           ", wanted a rank below ", ranks);
  }
  return OkStatus();
}

}  // namespace

int64_t DelayOf(const Delays& delays, int rank, int64_t call) {
  core::Numbers drawn(core::KeyOf(core::KeyOf(delays.seed, rank), call));
  const bool is_drawn = drawn.Share() < delays.fraction;
  if (!is_drawn && rank != delays.straggler) return 0;
  const auto most = static_cast<double>(delays.most_us);
  switch (delays.law) {
    case DelayLaw::kConstant:
      return delays.most_us;
    case DelayLaw::kUniform:
      return static_cast<int64_t>(drawn.Share() * most);
    case DelayLaw::kExponential:
      break;
  }
  // The inverse of its distribution.
  const double drawn_us = -kMeanShare * most * std::log1p(-drawn.Share());
  return static_cast<int64_t>(std::min(drawn_us, most));
}

void Sleep(int64_t us) {
  std::this_thread::sleep_for(std::chrono::microseconds(us));
}

void DelayedEndpoint::Calls::Next() {
  const int64_t us = DelayOf(delays, rank, ++number);
  if (us > 0) sleep(us);
}

Result<std::unique_ptr<DelayedEndpoint>> DelayedEndpoint::Of(
    Endpoint& inner, const Delays& delays, Sleeper sleep) {
  ASSAY_RETURN_IF_ERROR(Check(delays, inner.size()));
  std::shared_ptr<Calls> calls(
      new Calls{delays, inner.rank(), std::move(sleep)});
  return std::unique_ptr<DelayedEndpoint>(
      new DelayedEndpoint(inner, nullptr, std::move(calls)));
}

Status DelayedEndpoint::Exchange(int to, std::span<const std::byte> out,
                                 int from, std::span<std::byte> in) {
  calls_->Next();
  return inner_.Exchange(to, out, from, in);
}

Result<int> DelayedEndpoint::ReceiveAny(std::span<std::byte> in) {
  calls_->Next();
  return inner_.ReceiveAny(in);
}

Status DelayedEndpoint::Collect(const CollectiveCall& call) {
  calls_->Next();
  return inner_.Collect(call);
}

Result<std::unique_ptr<Pending>> DelayedEndpoint::Start(
    const CollectiveCall& call) {
  calls_->Next();
  return inner_.Start(call);
}

Result<std::unique_ptr<Endpoint>> DelayedEndpoint::Split(int color, int key) {
  calls_->Next();
  ASSAY_ASSIGN_OR_RETURN(auto part, inner_.Split(color, key));
  Endpoint& inner = *part;
  return std::unique_ptr<Endpoint>(
      new DelayedEndpoint(inner, std::move(part), calls_));
}

class DelayedEndpoint::LateNeighbors final : public Neighbors {
 public:
  LateNeighbors(std::unique_ptr<Neighbors> inner, std::shared_ptr<Calls> calls)
      : inner_(std::move(inner)), calls_(std::move(calls)) {}

  Status Exchange(std::span<const std::byte> out,
                  std::span<std::byte> in) override {
    calls_->Next();
    return inner_->Exchange(out, in);
  }

 private:
  const std::unique_ptr<Neighbors> inner_;
  const std::shared_ptr<Calls> calls_;
};

Result<std::unique_ptr<Neighbors>> DelayedEndpoint::Connect(
    std::span<const int> to, std::span<const int> from) {
  calls_->Next();
  ASSAY_ASSIGN_OR_RETURN(auto neighbors, inner_.Connect(to, from));
  return std::unique_ptr<Neighbors>(
      std::make_unique<LateNeighbors>(std::move(neighbors), calls_));
}

}  // namespace assay::ranks
