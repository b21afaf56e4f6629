// SPDX-License-Identifier: Apache-2.0
//
// Several networks of one backend do nothing to each other.

#include <array>
#include <thread>

#include "conformance/contract/cases.h"
#include "conformance/contract/subject.h"
#include "framework/backend/exception.h"

namespace assay::contract {

Status RunTwoNetworks(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(const auto relu, Load(backend, kRelu));
  ASSAY_ASSIGN_OR_RETURN(const auto add, Load(backend, kAdd));
  ASSAY_ASSIGN_OR_RETURN(const auto y,
                         relu->Bind(std::vector<Value>{Floats({-1, 2})}, {}));
  ASSAY_ASSIGN_OR_RETURN(
      const auto c,
      add->Bind(std::vector<Value>{Floats({1, 2, 3}), Floats({4, 5, 6})}, {}));
  for (int i = 0; i < 3; ++i) {
    ASSAY_RETURN_IF_ERROR(relu->Forward(*y));
    ASSAY_RETURN_IF_ERROR(add->Forward(*c));
    ASSAY_RETURN_IF_ERROR(relu->Synchronize());
    ASSAY_RETURN_IF_ERROR(add->Synchronize());
    ASSAY_RETURN_IF_ERROR(ExpectFloats(y->outputs()[0], {0, 2}, "Relu"));
    ASSAY_RETURN_IF_ERROR(ExpectFloats(c->outputs()[0], {5, 7, 9}, "Add"));
  }
  return OkStatus();
}

Status RunForeignBinding(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(const auto one, Load(backend, kRelu));
  ASSAY_ASSIGN_OR_RETURN(const auto other, Load(backend, kRelu));
  ASSAY_ASSIGN_OR_RETURN(const auto binding,
                         one->Bind(std::vector<Value>{Floats({-1, 2})}, {}));
  ASSAY_RETURN_IF_ERROR(
      ExpectRefused(other->Forward(*binding), "another network's binding"));
  ASSAY_RETURN_IF_ERROR(RunBound(*one, *binding));
  return ExpectFloats(binding->outputs()[0], {0, 2}, "its own network");
}

Status RunManyNetworks(Backend& backend) {
  constexpr size_t kNetworks = 64;
  std::array<std::unique_ptr<Network>, kNetworks> networks;
  const auto text = [](size_t i) {
    return StrCat("g (float[", i + 1, "] x) => (float[", i + 1,
                  "] y) { y = Relu(x) }");
  };
  for (size_t i = 0; i < kNetworks; ++i) {
    ASSAY_ASSIGN_OR_RETURN(networks.at(i), Load(backend, text(i)));
  }
  for (size_t i = kNetworks; i-- > 0;) {
    std::vector<float> x(i + 1, -1);
    x.back() = static_cast<float>(i);
    std::vector<float> want(i + 1, 0);
    want.back() = static_cast<float>(i);
    ASSAY_ASSIGN_OR_RETURN(const auto y, RunOnce(*networks.at(i), {Floats(x)}));
    ASSAY_RETURN_IF_ERROR(
        ExpectFloats(y[0], want, StrCat("network ", i + 1, " of 64")));
  }
  return OkStatus();
}

Status RunThreads(Backend& backend) {
  constexpr size_t kThreads = 4;
  std::array<Status, kThreads> statuses;
  const auto work = [&](size_t thread) -> Status {
    const auto x = static_cast<float>(thread);
    for (int i = 0; i < 20; ++i) {
      ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, kAdd));
      ASSAY_ASSIGN_OR_RETURN(
          const auto c,
          RunOnce(*network, {Floats({x, 2 * x, 3}), Floats({x, x, x})}));
      ASSAY_RETURN_IF_ERROR(
          ExpectFloats(c[0], {2 * x, 3 * x, 3 + x}, StrCat("thread ", thread)));
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

}  // namespace assay::contract
