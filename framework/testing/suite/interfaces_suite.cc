// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/suite/interfaces_suite.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/exact.h"
#include "framework/graph/model_text.h"

namespace assay::suite {
namespace {

/// Of operators that backends have: one of them is enough.
constexpr std::pair<const char*, const char*> kModels[] = {
    {"Relu", "g (float[2,2] x) => (float[2,2] y) { y = Relu(x) }"},
    {"Add", "g (float[2,2] x) => (float[2,2] y) { y = Add(x, x) }"},
    {"MatMul", "g (float[2,2] x) => (float[2,2] y) { y = MatMul(x, x) }"},
    {"Identity", "g (float[2,2] x) => (float[2,2] y) { y = Identity(x) }"},
    {"Sigmoid", "g (float[2,2] x) => (float[2,2] y) { y = Sigmoid(x) }"},
    {"Conv", "g (float[1,1,2,2] x) => (float[1,1,1,1] y) { y = Conv(x, x) }"},
};

/// With what it was loaded for: gradients, and exact answers, are prepared at
/// Load, and a backend may decline them.
std::vector<std::string> OfferedBy(Backend& backend,
                                   const std::shared_ptr<const Model>& model,
                                   const LoadOptions& plain, Network& network) {
  std::vector<std::string> offered;
  LoadOptions gradients = plain;
  gradients.gradient_targets = {"x"};
  if (const auto loaded = backend.Load(model, gradients);
      loaded.ok() && *loaded != nullptr && (*loaded)->differentiable()) {
    offered.emplace_back("differentiable");
  }
  if (network.parameters() != nullptr) offered.emplace_back("parameters");
  if (network.native_step() != nullptr) offered.emplace_back("native step");
  if (network.draws() != nullptr) offered.emplace_back("draws");
  if (network.placement() != nullptr) offered.emplace_back("placement");
  LoadOptions exact = plain;
  exact.exact = true;
  if (const auto loaded = backend.Load(model, exact);
      loaded.ok() && *loaded != nullptr && (*loaded)->exact()) {
    offered.emplace_back("exact");
  }
  return offered;
}

measure::Judgement RunInterfaces(const record::PlanRow& /*row*/,
                                 Backend& backend,
                                 const record::RunFacts& facts,
                                 record::Record* /*record*/) {
  LoadOptions options;
  options.settings = facts.settings;
  Status declined;
  for (const auto& [op, text] : kModels) {
    const auto model = graph::ModelOfText(text);
    const auto network = backend.Load(model, options);
    if (network.ok() && *network != nullptr) {
      const auto offered = OfferedBy(backend, model, options, **network);
      return {record::Outcome::kPass, Reason::kNone,
              StrCat(offered.empty() ? "none" : Joined(offered), "; by ", op)};
    }
    declined = network.ok() ? Internal("Load gave no network and no error")
                            : network.status();
    if (declined.code() != StatusCode::kUnsupported) break;
  }
  return {OutcomeOf(declined), declined.reason(), declined.message()};
}

}  // namespace

Suite InterfacesSuite() {
  return {.name = kInterfacesSuite, .run = &RunInterfaces};
}

}  // namespace assay::suite
