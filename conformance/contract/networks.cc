// SPDX-License-Identifier: Apache-2.0
//
// Several networks of one backend do nothing to each other. The draws of a
// network follow from a seed and a step.

#include <algorithm>
#include <array>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/contract/cases.h"
#include "conformance/contract/subject.h"
#include "framework/backend/exception.h"

namespace assay::contract {

Status RunTwoNetworks(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto one, Load(backend, probe.Model()));
  ASSAY_ASSIGN_OR_RETURN(const auto other, Load(backend, probe.TwoNodes()));
  ASSAY_ASSIGN_OR_RETURN(const auto y,
                         one->Bind(std::vector<Value>{Floats({-1, 2})}, {}));
  ASSAY_ASSIGN_OR_RETURN(
      const auto c,
      other->Bind(std::vector<Value>{Floats({1, 2, 3}), Floats({4, 5, 6})},
                  {}));
  for (int i = 0; i < 3; ++i) {
    ASSAY_RETURN_IF_ERROR(one->Forward(*y));
    ASSAY_RETURN_IF_ERROR(other->Forward(*c));
    ASSAY_RETURN_IF_ERROR(one->Synchronize());
    ASSAY_RETURN_IF_ERROR(other->Synchronize());
    ASSAY_RETURN_IF_ERROR(ExpectFloats(y->outputs()[0], probe.Values({-1, 2}),
                                       "the first network"));
    ASSAY_RETURN_IF_ERROR(ExpectFloats(c->outputs()[0], probe.Values({1, 2, 3}),
                                       "the second network"));
  }
  return OkStatus();
}

Status RunForeignBinding(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto one, Load(backend, probe.Model()));
  ASSAY_ASSIGN_OR_RETURN(const auto other, Load(backend, probe.Model()));
  ASSAY_ASSIGN_OR_RETURN(const auto binding,
                         one->Bind(std::vector<Value>{Floats({-1, 2})}, {}));
  ASSAY_RETURN_IF_ERROR(
      ExpectRefused(other->Forward(*binding), "another network's binding"));
  ASSAY_RETURN_IF_ERROR(RunBound(*one, *binding));
  return ExpectFloats(binding->outputs()[0], probe.Values({-1, 2}),
                      "its own network");
}

Status RunManyNetworks(Backend& backend, const ProbeOperator& probe) {
  constexpr size_t kNetworks = 64;
  std::array<std::unique_ptr<Network>, kNetworks> networks;
  const auto text = [&](size_t i) {
    return probe.Model(StrCat("[", i + 1, "]"));
  };
  for (size_t i = 0; i < kNetworks; ++i) {
    ASSAY_ASSIGN_OR_RETURN(networks.at(i), Load(backend, text(i)));
  }
  for (size_t i = kNetworks; i-- > 0;) {
    std::vector<float> x(i + 1, -1);
    x.back() = static_cast<float>(i);
    ASSAY_ASSIGN_OR_RETURN(const auto y, RunOnce(*networks.at(i), {Floats(x)}));
    ASSAY_RETURN_IF_ERROR(ExpectFloats(y[0], probe.Values(x),
                                       StrCat("network ", i + 1, " of 64")));
  }
  return OkStatus();
}

Status RunThreads(Backend& backend, const ProbeOperator& probe) {
  constexpr size_t kThreads = 4;
  std::array<Status, kThreads> statuses;
  const auto work = [&](size_t thread) -> Status {
    const auto x = static_cast<float>(thread);
    for (int i = 0; i < 20; ++i) {
      ASSAY_ASSIGN_OR_RETURN(const auto network,
                             Load(backend, probe.Model("[3]")));
      ASSAY_ASSIGN_OR_RETURN(const auto y,
                             RunOnce(*network, {Floats({x, 2 * x, 3})}));
      ASSAY_RETURN_IF_ERROR(ExpectFloats(y[0], probe.Values({x, 2 * x, 3}),
                                         StrCat("thread ", thread)));
    }
    return OkStatus();
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      try {
        statuses.at(i) = work(i);
      } catch (...) {
        statuses.at(i) = backend::StatusOfException("a thread");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& status : statuses) ASSAY_RETURN_IF_ERROR(status);
  return OkStatus();
}

Status TrainingDraws(Backend& backend, const ProbeOperator&) {
  ASSAY_ASSIGN_OR_RETURN(const auto network,
                         Load(backend,
                              "g (float[16] x) => (float[16] y) "
                              "{ y = RandomUniformLike(x) }",
                              {.mode = Mode::kTraining}));
  Draws* const draws = network->draws();
  if (draws == nullptr) return OkStatus();
  std::vector<Tensor> drawn;
  for (const auto& [seed, step] :
       {std::pair(7, 1), {7, 1}, {7, 2}, {8, 1}, {7, 1}}) {
    ASSAY_RETURN_IF_ERROR(draws->DrawFrom(static_cast<uint64_t>(seed), step));
    ASSAY_ASSIGN_OR_RETURN(
        const auto y, RunOnce(*network, {Floats(std::vector<float>(16, 1))}));
    ASSAY_ASSIGN_OR_RETURN(drawn.emplace_back(), y[0].tensor()->Clone());
  }
  const auto same = [&](size_t i) {
    return std::ranges::equal(drawn[0].bytes(), drawn[i].bytes());
  };
  if (!same(1) || !same(4)) {
    return Broken("one seed and step drew other numbers, wanted the same");
  }
  if (same(2)) return Broken("two steps drew the same numbers");
  return same(3) ? Broken("two seeds drew the same numbers") : OkStatus();
}

}  // namespace assay::contract
