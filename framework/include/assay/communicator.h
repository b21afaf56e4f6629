// SPDX-License-Identifier: Apache-2.0
//
// All that the source of a communicator includes: a library that carries
// messages between ranks.
//
//     ASSAY_REGISTER_COMMUNICATOR(AcmeRanks);  // once

#pragma once

#include "framework/backend/communicator.h"  // IWYU pragma: export
#include "framework/backend/registry.h"      // IWYU pragma: export
