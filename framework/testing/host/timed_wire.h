// SPDX-License-Identifier: Apache-2.0
//
// Asks to time something, and times, as they cross between the process of a
// suite and the host.

#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "framework/core/value.h"
#include "framework/testing/host/timed.h"
#include "framework/testing/host/wire/wire.h"

namespace assay::host {

/// A time of at most an hour.
std::chrono::nanoseconds ReadTime(wire::Reader* in);
void PutTime(std::chrono::nanoseconds time, wire::Writer* out);

/// An ask whose values lie here, without its gradients.
class ReadAsk {
 public:
  explicit ReadAsk(wire::Reader* in);
  TimedAsk ask() const;

 private:
  TimedAsk numbers_;
  std::vector<Value> memory_;
  std::vector<std::vector<Value>> runs_;
  std::vector<Value> cleared_;
};
/// All but the gradients.
void PutAsk(const TimedAsk& ask, wire::Writer* out);

/// As many samples as were asked for; fewer are a fault of the reader.
Timed ReadTimed(int64_t samples, wire::Reader* in);
void PutTimed(const Timed& timed, wire::Writer* out);

std::vector<Life> ReadLives(int64_t count, wire::Reader* in);
void PutLives(const std::vector<Life>& lives, wire::Writer* out);

}  // namespace assay::host
