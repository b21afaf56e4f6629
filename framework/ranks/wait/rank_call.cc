// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/wait/rank_call.h"

#include <vector>

#include "framework/core/text.h"
#include "framework/ranks/collective.h"

namespace assay::ranks {
namespace {

std::string ExchangeText(const RankCall& call) {
  std::vector<std::string> parts;
  if (call.to != kNobody) {
    parts.push_back(StrCat("send ", call.out, " bytes to rank ", call.to));
  }
  if (call.from != kNobody) {
    parts.push_back(
        StrCat("receive ", call.in, " bytes from rank ", call.from));
  }
  return parts.empty() ? "an exchange with nobody" : Joined(parts, " and ");
}

std::string CollectiveText(const RankCall& call) {
  return TextOf(CollectiveCall{.operation = call.operation,
                               .reduction = call.reduction,
                               .type = call.type,
                               .count = call.count,
                               .root = call.root});
}

std::string KindText(const RankCall& call) {
  switch (call.kind) {
    case CallKind::kExchange:
      return ExchangeText(call);
    case CallKind::kReceiveAny:
      return StrCat("receive ", call.in, " bytes from anybody");
    case CallKind::kCollective:
      return CollectiveText(call);
    case CallKind::kWait:
      return StrCat("wait for ", CollectiveText(call));
    case CallKind::kSplit:
    case CallKind::kConnect:
    case CallKind::kNeighbors:
      break;
  }
  return TextOf(call.kind);
}

}  // namespace

RankCall ExchangeOf(int to, size_t out, int from, size_t in) {
  return {.kind = CallKind::kExchange,
          .to = to,
          .from = from,
          .out = static_cast<int64_t>(out),
          .in = static_cast<int64_t>(in)};
}

RankCall ReceiveAnyOf(size_t in) {
  return {.kind = CallKind::kReceiveAny,
          .from = kAnybody,
          .in = static_cast<int64_t>(in)};
}

RankCall CollectiveOf(CallKind kind, const CollectiveCall& call) {
  return {.kind = kind,
          .operation = call.operation,
          .reduction = call.reduction,
          .type = call.type,
          .root = call.root,
          .count = call.count};
}

std::string TextOf(CallKind kind) {
  if (kind == CallKind::kSplit) return "split";
  return kind == CallKind::kConnect ? "connect with neighbors"
                                    : "exchange with neighbors";
}

std::string TextOf(const CollectiveCall& call) {
  std::string text(ToString(call.operation));
  if (call.operation == Operation::kBarrier) return text;
  text += StrCat(" of ", call.count, " ", ToString(call.type));
  const bool reduces = call.operation == Operation::kReduce ||
                       call.operation == Operation::kAllReduce ||
                       call.operation == Operation::kReduceScatter;
  if (reduces) text += StrCat(" by ", ToString(call.reduction));
  if (HasRoot(call.operation)) text += StrCat(" at the root ", call.root);
  return text;
}

std::string TextOf(const RankCall& call) {
  const std::string text = KindText(call);
  return call.group == kAllRanks ? text
                                 : StrCat(text, " in a part of the ranks");
}

}  // namespace assay::ranks
