// SPDX-License-Identifier: Apache-2.0
//
// BackendTest: the typed fixture that every suite is written against. It gives
// a test the backend of its type, shared by all tests of a process, and skips
// with the reason where the backend's library or device is missing.
//
//   struct Acme { static std::string Instance() { return "acme"; } };
//
//   template <class B> class ContractTest : public BackendTest<B> {};
//   TYPED_TEST_SUITE_P(ContractTest);
//   TYPED_TEST_P(ContractTest, EmptyModelLoads) {
//     EXPECT_TRUE(this->backend().Load(EmptyModel(), {}).ok());
//   }
//
// The build generates a tag type for each backend of the tree; Loaded stands
// for whatever file the worker was given. A tag of a vendor's says where its
// module lies: static std::string Module() { return "build/lib/acme.so"; }

#pragma once

#include <gtest/gtest.h>

#include <string>

#include "framework/backend/backend.h"
#include "framework/core/status.h"

namespace assay::worker {

/// The process' instance of a backend: its module loaded, the backend made and
/// inspected, on the first call. Later calls give the same answer.
Result<Backend*> SharedBackend(const std::string& instance);

/// Loads a module for SharedBackend in place of the one found by name.
void UseModule(const std::string& instance, const std::string& file);

/// The backend that a worker was told to load.
struct Loaded {
  static std::string Instance();
  static void SetInstance(std::string instance);
};

template <class B>
class BackendTest : public testing::Test {
 protected:
  void SetUp() override {
    if constexpr (requires { B::Module(); }) {
      UseModule(B::Instance(), B::Module());
    }
    const Result<Backend*> shared = SharedBackend(B::Instance());
    if (shared.ok()) {
      backend_ = *shared;
    } else if (shared.status().code() == StatusCode::kUnavailable) {
      GTEST_SKIP() << shared.status().message();
    } else {
      FAIL() << shared.status().ToString();
    }
  }

  Backend& backend() { return *backend_; }

 private:
  Backend* backend_ = nullptr;
};

}  // namespace assay::worker
