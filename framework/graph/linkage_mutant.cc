// SPDX-License-Identifier: Apache-2.0
//
// A library that leaks, for the test of linkage_test.sh: it exports a name of
// ONNX's, and one of ours that mentions protobuf.

namespace google::protobuf {
class Arena;
}  // namespace google::protobuf

namespace onnx {
void Leak() {}
}  // namespace onnx

namespace assay::v1 {
void Mention(google::protobuf::Arena*) {}
void Clean() {}
}  // namespace assay::v1
