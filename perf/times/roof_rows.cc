// SPDX-License-Identifier: Apache-2.0

#include "perf/times/roof_rows.h"

#include "framework/testing/times/row.h"
#include "framework/timing/machine/caches.h"

namespace assay::times {
namespace {

RoofRow RowOf(const roofs::Roof& roof) {
  RoofRow row;
  row.moment = roof.moment;
  row.level = roof.name.level;
  row.type = roof.name.type;
  row.threads = roof.name.threads;
  row.bytes = roof.bytes;
  row.code = roof.code;
  row.none = roof.none;
  if (!roof.rate.has_value()) return row;
  const bool is_compute = row.level == roofs::kCompute;
  (is_compute ? row.gflop_s : row.gb_s) = roof.rate->median;
  row.ci95_lo = roof.rate->interval.low;
  row.ci95_hi = roof.rate->interval.high;
  row.n_samples = roof.rate->n_samples;
  return row;
}

}  // namespace

roofs::Roofs& RoofsHere() {
  static roofs::Roofs roofs(machine::CachesOf("/"), roofs::MeasureHere);
  return roofs;
}

void MeasureAt(const worker::BatchPlace& place, roofs::Roofs* roofs) {
  if (place.is_middle()) roofs->MeasureAll("middle");
  if (place.is_last() && place.count > 1) roofs->MeasureAll("end");
}

void AddRoofs(roofs::Roofs* roofs, record::Record* record) {
  for (const roofs::Roof& roof : roofs->TakeNew()) record->Add(RowOf(roof));
}

}  // namespace assay::times
