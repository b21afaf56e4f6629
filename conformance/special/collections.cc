// SPDX-License-Identifier: Apache-2.0
#include "conformance/special/special.h"
namespace assay::inline v1 {
std::span<const SpecialCase> CollectionsCases() { return {}; }
}
