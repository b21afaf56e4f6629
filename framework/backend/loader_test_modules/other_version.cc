// SPDX-License-Identifier: Apache-2.0
//
// A module built for a core whose namespace has another version.

namespace assay::inline v0 {
void RegisterBackend();
}  // namespace assay::inline v0

extern "C" void LoaderTestCall() { assay::v0::RegisterBackend(); }
