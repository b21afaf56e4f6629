// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/scheme.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <set>

#include "framework/train/optimizer/in_place.h"

namespace assay::ranks {
namespace {

using train::Evaluation;
using train::Objective;

constexpr std::array kNames = {"ring", "complete", "exponential",
                               "one_peer_exponential", "torus"};

/// The distance of a peer in the grid of ranks.
struct Hop {
  int rows = 0, columns = 0;
};

/// Adds both neighbours along one axis of the grid; one that is on both sides
/// counts once.
void AddBeside(int extent, Hop next, std::vector<Hop>* hops) {
  if (extent > 1) hops->push_back(next);
  if (extent > 2) {
    hops->push_back({next.rows * (extent - 1), next.columns * (extent - 1)});
  }
}

std::vector<Hop> HopsOf(Graph graph, int rows, int columns, int64_t step) {
  constexpr Hop kNextRow = {.rows = 1}, kNextColumn = {.columns = 1};
  const int doublings = std::bit_width(static_cast<unsigned>(columns - 1));
  std::vector<Hop> hops;
  switch (graph) {
    case Graph::kRing:
    case Graph::kTorus:
      AddBeside(rows, kNextRow, &hops);
      AddBeside(columns, kNextColumn, &hops);
      break;
    case Graph::kComplete:
      for (int hop = 1; hop < columns; ++hop) hops.push_back({0, hop});
      break;
    case Graph::kExponential:
      for (int hop = 1; hop < columns; hop *= 2) hops.push_back({0, hop});
      break;
    case Graph::kOnePeerExponential:
      if (columns > 1) hops.push_back({0, 1 << (step % doublings)});
      break;
  }
  return hops;
}

/// sum += weight * other, in double.
Status AddTo(std::vector<double>& sum, double weight, Tensor other) {
  return train::InPlace(&other, other, {}, [&](const auto& each) {
    for (size_t i = 0; i < sum.size(); ++i) {
      sum[i] += weight * double{each.g[i]};
    }
  });
}

Status Round(const std::vector<double>& sum, Tensor* tensor) {
  return train::InPlace(tensor, *tensor, {},
                        [&]<class T>(const train::Elements<T>& each) {
                          for (size_t i = 0; i < sum.size(); ++i) {
                            each.x[i] = static_cast<T>(sum[i]);
                          }
                        });
}

/// Replaces the rank's tensors by the weighted mean with its peers', summed in
/// double and rounded once.
Status Mix(const std::vector<Peer>& peers, std::span<Tensor> tensors,
           Endpoint& endpoint) {
  double own = 1;
  for (const Peer& peer : peers) own -= peer.weight;
  for (Tensor& value : tensors) {
    ASSAY_ASSIGN_OR_RETURN(Tensor came, value.Clone());
    std::vector<double> sum(static_cast<size_t>(value.num_elements()));
    ASSAY_RETURN_IF_ERROR(AddTo(sum, own, value));
    for (const Peer& peer : peers) {
      ASSAY_RETURN_IF_ERROR(
          endpoint.Exchange(peer.to, value.bytes(), peer.from,
                            std::span(came.mutable_data(),
                                      static_cast<size_t>(came.byte_size()))));
      ASSAY_RETURN_IF_ERROR(AddTo(sum, peer.weight, came));
    }
    ASSAY_RETURN_IF_ERROR(Round(sum, &value));
  }
  return OkStatus();
}

/// The mean of an objective over several evaluations.
class Accumulated : public Objective {
 public:
  Accumulated(Objective& inner, int64_t batches)
      : inner_(inner), batches_(batches) {}

  std::span<train::Parameter> parameters() override {
    return inner_.parameters();
  }
  Result<Evaluation> Evaluate() override {
    const double weight = 1 / static_cast<double>(batches_);
    std::vector<std::vector<double>> sums;
    Evaluation mean;
    for (int64_t batch = 0; batch < batches_; ++batch) {
      ASSAY_ASSIGN_OR_RETURN(const Evaluation evaluation, inner_.Evaluate());
      mean = {mean.loss + weight * evaluation.loss, evaluation.gradients};
      sums.resize(mean.gradients.size());
      for (size_t i = 0; i < sums.size(); ++i) {
        const Tensor& gradient = mean.gradients[i];
        sums[i].resize(static_cast<size_t>(gradient.num_elements()));
        ASSAY_RETURN_IF_ERROR(AddTo(sums[i], weight, gradient));
      }
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(Round(sums[i], &mean.gradients[i]));
    }
    return mean;
  }

 private:
  Objective& inner_;
  const int64_t batches_;
};

/// The elements of all parameters, concatenated.
Result<std::vector<double>> NumbersOf(train::Objective& objective) {
  std::vector<double> numbers;
  for (Tensor& value : ValuesOf(objective)) {
    ASSAY_RETURN_IF_ERROR(
        train::InPlace(&value, value, {}, [&](const auto& each) {
          numbers.insert(numbers.end(), each.x.begin(), each.x.end());
        }));
  }
  return numbers;
}

/// Writes numbers / weight into the parameters, rounded once.
Status Write(std::span<const double> numbers, double weight,
             train::Objective& objective) {
  for (Tensor& value : ValuesOf(objective)) {
    ASSAY_RETURN_IF_ERROR(train::InPlace(
        &value, value, {}, [&]<class T>(const train::Elements<T>& each) {
          for (size_t i = 0; i < each.x.size(); ++i) {
            each.x[i] = static_cast<T>(numbers[i] / weight);
          }
          numbers = numbers.subspan(each.x.size());
        }));
  }
  return OkStatus();
}

}  // namespace

std::string_view ToString(Graph graph) {
  return kNames[static_cast<size_t>(graph)];
}

int RowsOf(Graph graph, int ranks) {
  int rows = 1;
  if (graph != Graph::kTorus) return rows;
  for (int each = 2; each * each <= ranks; ++each) {
    if (ranks % each == 0) rows = each;
  }
  return rows;
}

std::vector<Peer> PeersOf(Graph graph, int rank, int ranks, int64_t step) {
  const int rows = RowsOf(graph, ranks);
  const int columns = ranks / rows;
  const std::vector<Hop> hops = HopsOf(graph, rows, columns, step);
  const auto at = [&](int row, int column) {
    return (rank / columns + row + rows) % rows * columns +
           (rank % columns + column + columns) % columns;
  };
  std::vector<Peer> peers;
  for (const Hop& hop : hops) {
    peers.push_back({at(hop.rows, hop.columns), at(-hop.rows, -hop.columns),
                     1 / static_cast<double>(hops.size() + 1)});
  }
  return peers;
}

double AngleOf(Wave wave, Graph graph, int rank, int ranks) {
  const int rows = RowsOf(graph, ranks);
  const int columns = ranks / rows;
  const int row = rank / columns;
  const int column = rank % columns;
  return 2 * std::numbers::pi *
         (static_cast<double>(wave.along_rows * row) / rows +
          static_cast<double>(wave.along_columns * column) / columns);
}

double FactorOf(Wave wave, Graph graph, int ranks) {
  double real = 1;
  double imaginary = 0;
  for (const Peer& peer : PeersOf(graph, 0, ranks, 0)) {
    const double angle = AngleOf(wave, graph, peer.from, ranks);
    real += peer.weight * (std::cos(angle) - 1);
    imaginary += peer.weight * std::sin(angle);
  }
  return std::hypot(real, imaginary);
}

Result<double> AccumulatingScheme::Step(Objective& objective) {
  Accumulated mean(objective, batches_);
  return inner_->Step(mean);
}

Result<double> AllReduceScheme::Step(Objective& objective) {
  Between together(objective, {}, [&](std::span<Tensor> gradients) {
    return MeanOfAll(gradients, travel_, endpoint_);
  });
  return optimizer_->Step(together);
}

Result<double> ServerScheme::Step(Objective& objective) {
  std::vector<Tensor> values = ValuesOf(objective);
  Between together(
      objective, [&] { return FromRoot(values, travel_, 0, endpoint_); },
      [&](std::span<Tensor> gradients) {
        return MeanAtRoot(gradients, travel_, 0, endpoint_);
      });
  if (endpoint_.rank() == 0) return optimizer_->Step(together);
  ASSAY_ASSIGN_OR_RETURN(const Evaluation evaluation, together.Evaluate());
  return evaluation.loss;
}

Status ServerScheme::Finish(Objective& objective) {
  std::vector<Tensor> values = ValuesOf(objective);
  return FromRoot(values, travel_, 0, endpoint_);
}

Result<double> AverageScheme::Step(Objective& objective) {
  ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer_->Step(objective));
  if (++steps_ % period_ == 0) ASSAY_RETURN_IF_ERROR(Finish(objective));
  return loss;
}

Status AverageScheme::Finish(Objective& objective) {
  std::vector<Tensor> values = ValuesOf(objective);
  return MeanOfAll(values, travel_, endpoint_);
}

Result<double> GossipScheme::Step(Objective& objective) {
  const std::vector<Peer> peers =
      PeersOf(graph_, endpoint_.rank(), endpoint_.size(), steps_++);
  std::vector<Tensor> values = ValuesOf(objective);
  Between mixed(objective, {}, [&](std::span<Tensor>) {
    return Mix(peers, values, endpoint_);
  });
  return optimizer_->Step(mixed);
}

std::vector<int> HopsOf(Directed graph, int rank, int ranks, int64_t step) {
  if (ranks == 1) return {};
  if (graph == Directed::kOnePeer) {
    return {1 << (step % std::bit_width(static_cast<unsigned>(ranks - 1)))};
  }
  if (rank % 2 == 0 && ranks > 2) return {1, 2};
  return {1};
}

/// Sends the rank's parts to the ranks ahead, by ascending distance; a rank
/// that sends and receives at a distance does both at once.
Status PushSumScheme::Push() {
  const int rank = endpoint_.rank();
  const int ranks = endpoint_.size();
  const auto sends = [&](int who, int hop) {
    const std::vector<int> hops = HopsOf(graph_, who, ranks, steps_);
    return std::ranges::find(hops, hop) != hops.end();
  };
  std::set<int> hops;
  for (int who = 0; who < ranks; ++who) {
    for (const int hop : HopsOf(graph_, who, ranks, steps_)) hops.insert(hop);
  }
  const std::vector<int> own = HopsOf(graph_, rank, ranks, steps_);
  for (double& each : mass_) each /= static_cast<double>(own.size() + 1);
  const std::vector<double> part = mass_;
  std::vector<double> came(part.size());
  const auto out = std::as_bytes(std::span(part));
  const auto in = std::as_writable_bytes(std::span(came));
  for (const int hop : hops) {
    const int behind = (rank - hop + ranks) % ranks;
    const int to = sends(rank, hop) ? (rank + hop) % ranks : kNobody;
    const int from = sends(behind, hop) ? behind : kNobody;
    ASSAY_RETURN_IF_ERROR(
        endpoint_.Exchange(to, out.first(to == kNobody ? 0 : out.size()), from,
                           in.first(from == kNobody ? 0 : in.size())));
    if (from == kNobody) continue;
    std::ranges::transform(mass_, came, mass_.begin(), std::plus<double>());
  }
  return OkStatus();
}

Result<double> PushSumScheme::Step(train::Objective& objective) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> before,
                         NumbersOf(objective));
  if (mass_.empty()) {
    mass_ = before;
    mass_.push_back(1);
  }
  ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer_->Step(objective));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<double> behind,
                         NumbersOf(objective));
  for (size_t i = 0; i < before.size(); ++i) mass_[i] += behind[i] - before[i];
  ASSAY_RETURN_IF_ERROR(Push());
  ++steps_;
  ASSAY_RETURN_IF_ERROR(
      Write(std::span(mass_).first(before.size()), weight(), objective));
  return loss;
}

Share ShareOf(std::span<const int64_t> batch, int rank, int ranks) {
  const auto all = static_cast<size_t>(ranks);
  const auto place = static_cast<size_t>(rank);
  const size_t first = batch.size() * place / all;
  const size_t end = batch.size() * (place + 1) / all;
  if (first == end) return {};
  const std::span<const int64_t> mine = batch.subspan(first, end - first);
  return {{mine.begin(), mine.end()},
          static_cast<double>(all * mine.size()) /
              static_cast<double>(batch.size())};
}

Result<train::Evaluation> SharedObjective::Evaluate() {
  if (share_.samples.empty()) {
    ASSAY_RETURN_IF_ERROR(Zero());
    return train::Evaluation{0, gradients_};
  }
  ASSAY_RETURN_IF_ERROR(put_(share_.samples));
  ASSAY_ASSIGN_OR_RETURN(const train::Evaluation own, inner_.Evaluate());
  // A weight of 1 changes nothing: most batches divide without a remainder.
  if (share_.weight == 1) return own;
  ASSAY_RETURN_IF_ERROR(Weigh(own.gradients));
  return train::Evaluation{share_.weight * own.loss, gradients_};
}

Status SharedObjective::Weigh(std::span<const Tensor> gradients) {
  gradients_.resize(gradients.size());
  for (size_t p = 0; p < gradients.size(); ++p) {
    ASSAY_RETURN_IF_ERROR(train::Reserve(gradients[p], &gradients_[p]));
    ASSAY_RETURN_IF_ERROR(train::InPlace(
        &gradients_[p], gradients[p], {},
        [&]<class T>(const train::Elements<T>& each) {
          for (size_t i = 0; i < each.x.size(); ++i) {
            each.x[i] = static_cast<T>(share_.weight * double{each.g[i]});
          }
        }));
  }
  return OkStatus();
}

Status SharedObjective::Zero() {
  const std::span<const train::Parameter> parameters = inner_.parameters();
  gradients_.resize(parameters.size());
  for (size_t p = 0; p < parameters.size(); ++p) {
    Tensor& gradient = gradients_[p];
    ASSAY_RETURN_IF_ERROR(train::Reserve(parameters[p].value, &gradient));
    std::fill_n(gradient.mutable_data(), gradient.bytes().size(), std::byte{});
  }
  return OkStatus();
}

}  // namespace assay::ranks
