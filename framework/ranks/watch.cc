// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/watch.h"

#include "framework/core/text.h"

namespace assay::ranks {

void WatchedEndpoint::Open(const Seen& seen) {
  const std::lock_guard lock(mutex_);
  last_.push_back(seen);
  last_.back().number = ++calls_;
  if (last_.size() > kept_ + 1) last_.pop_front();
}

void WatchedEndpoint::Close(const Status& status) {
  const std::lock_guard lock(mutex_);
  Seen& seen = last_.back();
  seen.state = status.ok() ? "done" : "failed";
  if (status.ok() && seen.to != kNobody && seen.to != rank()) {
    sent_.bytes += static_cast<int64_t>(seen.out);
    sent_.messages += 1;
  }
  if (last_.size() > kept_) last_.pop_front();
}

Status WatchedEndpoint::Exchange(int to, std::span<const std::byte> out,
                                 int from, std::span<std::byte> in) {
  Open({to, from, out.size(), in.size()});
  const Status status = inner_.Exchange(to, out, from, in);
  Close(status);
  return status;
}

Result<int> WatchedEndpoint::ReceiveAny(std::span<std::byte> in) {
  Open({kNobody, kAnybody, 0, in.size()});
  Result<int> from = inner_.ReceiveAny(in);
  Close(from.status());
  return from;
}

Traffic WatchedEndpoint::sent() const {
  const std::lock_guard lock(mutex_);
  return sent_;
}

std::vector<std::string> WatchedEndpoint::Last() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (const Seen& seen : last_) {
    std::string line = StrCat(seen.number, ":");
    if (seen.to != kNobody)
      line += StrCat(" ", seen.out, " bytes to ", seen.to);
    if (seen.to != kNobody && seen.from != kNobody) line += ",";
    if (seen.from != kNobody) {
      line += StrCat(" ", seen.in, " bytes from ");
      line += seen.from == kAnybody ? "anybody" : StrCat(seen.from);
    }
    lines.push_back(StrCat(line, ": ", seen.state));
  }
  return lines;
}

}  // namespace assay::ranks
