// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/timed_wire.h"

#include <algorithm>
#include <array>
#include <optional>

#include "framework/core/text.h"

namespace assay::host {
namespace {

constexpr uint64_t kMostTime = 3'600'000'000'000;  // ns of one call

constexpr std::array kNumbers = {&TimedAsk::samples, &TimedAsk::calls,
                                 &TimedAsk::flushed};
constexpr std::array kCounts = {
    &counts::Counts::allocations, &counts::Counts::allocated_bytes,
    &counts::Counts::instructions, &counts::Counts::peak_rss_kb,
    &counts::Counts::steady_rss_kb};
constexpr std::array kPhases = {&Life::load, &Life::create, &Life::first,
                                &Life::destroy};

/// 0 stands for nothing, and any other number for the one below it.
std::optional<int64_t> ReadCount(wire::Reader* in) {
  const auto number = static_cast<int64_t>(in->Number());
  return number > 0 ? std::optional(number - 1) : std::nullopt;
}

}  // namespace

std::chrono::nanoseconds ReadTime(wire::Reader* in) {
  return std::chrono::nanoseconds(
      static_cast<int64_t>(std::min(in->Number(), kMostTime)));
}

void PutTime(std::chrono::nanoseconds time, wire::Writer* out) {
  out->Put(static_cast<uint64_t>(time.count()));
}

void PutAsk(const TimedAsk& ask, wire::Writer* out) {
  for (const auto number : kNumbers) {
    out->Put(static_cast<uint64_t>(ask.*number));
  }
  out->Put(static_cast<uint64_t>(ask.watched + 1));
  out->Put(uint64_t{ask.counted});
  out->Put(ask.inputs.memory, ask.inputs.runs, ask.cleared);
}

ReadAsk::ReadAsk(wire::Reader* in) {
  for (const auto number : kNumbers) {
    numbers_.*number = static_cast<int64_t>(in->Number());
  }
  numbers_.watched = static_cast<int64_t>(in->Number()) - 1;
  numbers_.counted = in->Number() != 0;
  memory_ = in->ReadAll<Value>();
  runs_ = in->ReadAll<std::vector<Value>>();
  cleared_ = in->ReadAll<Value>();
}

TimedAsk ReadAsk::ask() const {
  TimedAsk ask = numbers_;
  ask.inputs = {memory_, runs_};
  ask.cleared = cleared_;
  return ask;
}

void PutTimed(const Timed& timed, wire::Writer* out) {
  out->Put(uint64_t{timed.samples.size()});
  for (const auto sample : timed.samples) PutTime(sample, out);
  for (const auto count : kCounts) {
    out->Put(static_cast<uint64_t>((timed.counts.*count).value_or(-1) + 1));
  }
  out->Put(timed.watched);
}

Timed ReadTimed(int64_t samples, wire::Reader* in) {
  Timed timed;
  const uint64_t found = in->Number();
  if (found != static_cast<uint64_t>(samples)) {
    in->Refuse(StrCat("found ", found, " samples, wanted ", samples));
    return timed;
  }
  for (uint64_t i = 0; i < found && !in->faulty(); ++i) {
    timed.samples.push_back(ReadTime(in));
  }
  for (const auto count : kCounts) timed.counts.*count = ReadCount(in);
  timed.watched = in->ReadAll<Value>();
  return timed;
}

void PutLives(const std::vector<Life>& lives, wire::Writer* out) {
  for (const Life& life : lives) {
    for (const auto phase : kPhases) PutTime(life.*phase, out);
  }
}

std::vector<Life> ReadLives(int64_t count, wire::Reader* in) {
  std::vector<Life> lives(static_cast<size_t>(count));
  for (Life& life : lives) {
    for (const auto phase : kPhases) life.*phase = ReadTime(in);
  }
  return lives;
}

}  // namespace assay::host
