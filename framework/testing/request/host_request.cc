// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/request/host_request.h"

namespace assay::request {

const Form& HostRequest::form() {
  using Row = HostRequest;
  using record::ColumnOf;
  static const Form form = {
      {"host",
       {ASSAY_COLUMN(module, "file to load"),
        ASSAY_COLUMN(name, "of the backend"),
        ASSAY_COLUMN(version, "that it must be of; any if empty"),
        ASSAY_COLUMN(parent, "process to die with; none if 0"),
        ASSAY_COLUMN(forks, "1: it may fork to serve"),
        ColumnOf<Row, &Row::walls, &walls::Walls::hidden>(
            "hide", "folders that the module must not see"),
        ColumnOf<Row, &Row::walls, &walls::Walls::kept>(
            "keep", "folders that the module must not change")}},
      {"module", "name"}};
  return form;
}

}  // namespace assay::request
