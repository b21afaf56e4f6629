// SPDX-License-Identifier: Apache-2.0
//
// The calls of a Server that are timed.

#include "framework/testing/host/server.h"
#include "framework/testing/host/timed.h"
#include "framework/testing/host/timed_wire.h"

namespace assay::host {

Status Server::TimeSamples(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(const Named named, NamedBy(in));
  const uint64_t gradients = in->Number();
  const ReadAsk read(in);
  ASSAY_RETURN_IF_ERROR(in->Fault());
  TimedAsk ask = read.ask();
  if (gradients > 0) {
    ASSAY_ASSIGN_OR_RETURN(BoundGradients* const bound,
                           Find(gradients_, gradients, "bound gradient"));
    ask.gradients = bound->gradients.get();
  }
  ASSAY_ASSIGN_OR_RETURN(const Timed timed,
                         TimeRuns(named.network(), named.binding(), ask));
  PutTimed(timed, out);
  return OkStatus();
}

Status Server::TimeAgain(wire::Reader* in, wire::Writer* out) {
  ASSAY_ASSIGN_OR_RETURN(Served* const served, Self(in));
  const auto inputs = in->ReadAll<Value>();
  const auto count = static_cast<int64_t>(in->Number());
  ASSAY_RETURN_IF_ERROR(in->Fault());
  const LoadedAs as = {backend_, served->model, served->options};
  ASSAY_ASSIGN_OR_RETURN(const auto lives,
                         TimeLives(as, *served->network, inputs, count));
  PutLives(lives, out);
  return OkStatus();
}

}  // namespace assay::host
