// SPDX-License-Identifier: Apache-2.0
//
// The contract suite as a typed GoogleTest suite, for a backend's own tests.
//
//   struct Acme { static std::string Instance() { return "acme"; } };
//   INSTANTIATE_TYPED_TEST_SUITE_P(Acme, ContractTest, Acme);

#pragma once

#include <gtest/gtest.h>

#include "conformance/contract/cases.h"
#include "conformance/contract/contract.h"
#include "framework/testing/worker/backend_test.h"

namespace assay::contract {

template <class B>
class ContractTest : public worker::BackendTest<B> {
 protected:
  void Try(const ContractCase& contract_case) {
    const Status kept = TryContract(contract_case, this->backend());
    if (kept.code() == StatusCode::kUnsupported) {
      GTEST_SKIP() << kept.message();
    }
    EXPECT_TRUE(kept.ok()) << contract_case.promise << ": " << kept.ToString();
  }
};

TYPED_TEST_SUITE_P(ContractTest);

#define ASSAY_TYPED_TEST(function, name, duty, operators, promise)    \
  TYPED_TEST_P(ContractTest, function) {                              \
    this->Try({name, assay::contract::Duty::duty, operators, promise, \
               &assay::contract::function});                          \
  }
#define ASSAY_TYPED_NAME(function, ...) , function
#define ASSAY_REGISTER(...) REGISTER_TYPED_TEST_SUITE_P(__VA_ARGS__)
ASSAY_CONTRACT_CASES(ASSAY_TYPED_TEST)
ASSAY_REGISTER(ContractTest ASSAY_CONTRACT_CASES(ASSAY_TYPED_NAME));
#undef ASSAY_TYPED_TEST
#undef ASSAY_TYPED_NAME
#undef ASSAY_REGISTER

}  // namespace assay::contract
