// SPDX-License-Identifier: Apache-2.0
//
// A process that is stopped supervises nothing, and its run would never end.
//
//   WakeWhenStopped();   // once, by the thread that lives as long as the process

#pragma once

namespace assay::process {

/// Starts a process that looks each half second whether this one is stopped, as
/// by a SIGSTOP of a backend that no walls hold, and then lets it go on. It
/// ends with this one. A terminal's Ctrl-Z stops both, and its `fg` both go on.
void WakeWhenStopped();

}  // namespace assay::process
