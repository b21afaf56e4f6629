// SPDX-License-Identifier: Apache-2.0
//
// What Server answers for the parameters and the optimizer of a network.
//
//   Status answered = OfInterfaces(network, wire::Call::kListParameters, &in, &out);

#pragma once

#include "framework/backend/backend.h"
#include "framework/testing/host/wire/protocol.h"
#include "framework/testing/host/wire/wire.h"

namespace assay::host {

Status OfInterfaces(Network* network, wire::Call call, wire::Reader* in,
                    wire::Writer* out);

}  // namespace assay::host
