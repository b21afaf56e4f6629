// SPDX-License-Identifier: Apache-2.0
//
// The report that a process prints which runs a backend when a signal ends it,
// or the backend does by itself, for the log that the supervisor reads
// (framework/supervise/process/crash_log.h).
//
//   ReportCrashes();
//   EnterPhase("forward");
//
// A fault of a module then reads
//
//     assay crash: SIGSEGV in forward
//       acme.so(_ZN4acme4Conv3RunEv+0x1c)
//       acme.so(+0x22a0)
//     assay crash: end

#pragma once

namespace assay::host {

/// From now on this process reports its end, where nobody else looks after the
/// signal, as a sanitizer does.
void ReportCrashes();

/// The thing that the backend is asked for now, a literal; null: nothing.
void EnterPhase(const char* phase);

}  // namespace assay::host
