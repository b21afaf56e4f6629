// SPDX-License-Identifier: Apache-2.0
//
// The test that makes the worker it is linked into a broken one.

#include <gtest/gtest.h>

namespace assay::test_module {
namespace {

TEST(Worker, IsBroken) { FAIL() << "as it is to be"; }

}  // namespace
}  // namespace assay::test_module
