// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/hosted_cases.h"

#include <sys/wait.h>

#include <string>
#include <utility>

#include "framework/testing/host/end_like.h"
#include "framework/testing/host/link.h"
#include "framework/testing/host/wire/wire.h"

namespace assay::worker {
namespace {

void MakeError(record::Record* record, Reason reason, std::string message) {
  record->result.outcome = record::Outcome::kError;
  record->result.reason_code = ToString(reason);
  record->result.message = std::move(message);
}

}  // namespace

Status HostedCases::NoteEnd(const HostProcess::End& end) {
  return journal_.Ended(end.pid, end.wait_status);
}

Status HostedCases::Ready() {
  if (host_.serves() && host_.link().EndedMeanwhile()) {
    ASSAY_RETURN_IF_ERROR(NoteEnd(host_.Finish()));
  }
  if (host_.serves()) return OkStatus();
  HostProcess::End end;
  const Status begun = host_.Begin(&end);
  if (begun.code() == StatusCode::kCancelled) host::EndLike(end.wait_status);
  ASSAY_RETURN_IF_ERROR(begun);
  n_run_ = 0;
  n_libraries_ = 0;
  note_files_(host_.pid());
  return OkStatus();
}

host::CaseEnd HostedCases::End() {
  ++n_run_;
  end_ = {};
  const Result<std::string> answer =
      host_.link().Ask(wire::Call::kCaseEnd, wire::Writer());
  if (!answer.ok()) return end_;
  wire::Reader in(*answer);
  static_cast<void>(in.Read<Status>());
  end_.changed = in.Text();
  end_.n_libraries = in.Number();
  end_.replace = in.Number() != 0;
  end_.peak_rss_kb = static_cast<int64_t>(in.Number());
  if (!in.Fault().ok()) static_cast<void>(host_.link().Refuse(in.Fault()));
  return end_;
}

Result<bool> HostedCases::Settle(record::Record* record) {
  record->result.worker = std::to_string(host_.pid());
  if (!host_.link().is_gone()) {
    if (std::exchange(n_libraries_, end_.n_libraries) != end_.n_libraries) {
      note_files_(host_.pid());
    }
    return true;
  }
  const Status fault = host_.link().fault();
  if (!fault.ok()) {
    host_.Kill();
    MakeError(record, Reason::kStateChanged, fault.message());
    return true;
  }
  const HostProcess::End end = host_.Finish();
  if (WIFEXITED(end.wait_status) &&
      WEXITSTATUS(end.wait_status) == kChannelLost) {
    MakeError(record, Reason::kStateChanged,
              "the backend changed the process' descriptors");
    return true;
  }
  ASSAY_RETURN_IF_ERROR(NoteEnd(end));
  return false;
}

Status HostedCases::Leave() {
  if (!host_.serves() || (!end_.replace && n_run_ < most_)) return OkStatus();
  return Close();
}

Status HostedCases::Close() {
  if (!host_.serves()) return OkStatus();
  const HostProcess::End end = host_.Finish();
  return end.wait_status == 0 ? OkStatus() : NoteEnd(end);
}

}  // namespace assay::worker
