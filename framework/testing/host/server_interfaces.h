// SPDX-License-Identifier: Apache-2.0
//
// What Server answers for the parameters, the optimizer and the draws of a
// network.
//
//   Status answered = OfInterfaces(network, wire::Call::kListParameters, &in, &out);

#pragma once

#include <cstdint>

#include "framework/backend/backend.h"
#include "framework/testing/host/wire/protocol.h"
#include "framework/testing/host/wire/wire.h"

namespace assay::host {

/// The optional interfaces of a network, as bits of wire::Offered.
uint64_t OfferedBy(Network& network);

Status OfInterfaces(Network* network, wire::Call call, wire::Reader* in,
                    wire::Writer* out);

}  // namespace assay::host
