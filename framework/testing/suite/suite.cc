// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/suite/suite.h"

#include <algorithm>
#include <utility>

namespace assay::inline v1 {
namespace {

std::vector<Suite>& Suites() {
  static auto* suites = new std::vector<Suite>();
  return *suites;
}

}  // namespace

bool AddSuite(Suite suite) {
  Suites().push_back(std::move(suite));
  return true;
}

const Suite* FindSuite(std::string_view name) {
  const auto found = std::ranges::find(Suites(), name, &Suite::name);
  return found == Suites().end() ? nullptr : &*found;
}

}  // namespace assay::inline v1
