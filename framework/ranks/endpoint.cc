// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/endpoint.h"

#include <algorithm>
#include <vector>

namespace assay::ranks {

Status RunSchedule(const Schedule& schedule, Reduction reduction,
                   Endpoint& endpoint, Tensor* buffer) {
  // The part that comes in may overlap the part that goes out.
  std::vector<std::byte> came;
  for (const Step& step : schedule) {
    const Part out_part = step.to == kNobody ? Part() : step.out;
    const Part in_part = step.from == kNobody ? Part() : step.in;
    ASSAY_ASSIGN_OR_RETURN(const auto out, BytesOf(out_part, buffer));
    ASSAY_ASSIGN_OR_RETURN(const auto in, BytesOf(in_part, buffer));
    came.resize(in.size());
    ASSAY_RETURN_IF_ERROR(endpoint.Exchange(step.to, out, step.from, came));
    if (step.combines) {
      ASSAY_RETURN_IF_ERROR(Combine(reduction, came, in_part, buffer));
    } else {
      std::ranges::copy(came, in.begin());
    }
  }
  return OkStatus();
}

Status RunCollective(const Collective& what, Reduction reduction,
                     Endpoint& endpoint, Tensor* buffer) {
  ASSAY_ASSIGN_OR_RETURN(const Schedule schedule,
                         ScheduleOf(what, endpoint.rank()));
  if (what.ranks != endpoint.size()) {
    return InvalidArgument("found a collective of ", what.ranks,
                           " ranks, wanted one of ", endpoint.size());
  }
  if (buffer->num_elements() != ElementsOf(what)) {
    return InvalidArgument("found a buffer of ", buffer->num_elements(),
                           " elements for ", ToString(what), ", wanted ",
                           ElementsOf(what));
  }
  return RunSchedule(schedule, reduction, endpoint, buffer);
}

}  // namespace assay::ranks
