// SPDX-License-Identifier: Apache-2.0
//
// JUnit documents, for the programs that read them beside CTest.
//
//   std::string xml = JUnitXml("node", "acme", verdicts.final);

#pragma once

#include <string>
#include <vector>

#include "framework/testing/record/record.h"

namespace assay::run {

/// One JUnit document of the cases of one suite on one backend.
std::string JUnitXml(const std::string& suite, const std::string& backend,
                     const std::vector<record::Record>& records);

}  // namespace assay::run
