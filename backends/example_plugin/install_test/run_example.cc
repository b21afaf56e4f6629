// SPDX-License-Identifier: Apache-2.0
//
// run_example MODULE: loads the module and runs a model of one Relu on it.

#include <assay/backend.h>

#include <array>
#include <iostream>
#include <span>
#include <string_view>

namespace {

using namespace assay;

// y = Relu(x), both float32[2], as serialized ONNX of opset 14.
constexpr std::string_view kModel(
    "\x08\x08\x3a\x33\x0a\x0c\x0a\x01\x78\x12\x01\x79\x22\x04\x52\x65\x6c\x75"
    "\x12\x01\x67\x5a\x0f\x0a\x01\x78\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02"
    "\x08\x02\x62\x0f\x0a\x01\x79\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08"
    "\x02\x42\x04\x0a\x00\x10\x0e",
    61);

Status Check(const char* module) {
  ASSAY_ASSIGN_OR_RETURN(const auto names, LoadBackendModule(module));
  ASSAY_ASSIGN_OR_RETURN(const auto backend, MakeBackend(names.at(0)));
  ASSAY_ASSIGN_OR_RETURN(const auto model,
                         Model::Parse(std::as_bytes(std::span(kModel))));
  ASSAY_ASSIGN_OR_RETURN(const auto network, backend->Load(model, {}));
  constexpr std::array<float, 2> kX = {-1, 2};
  ASSAY_ASSIGN_OR_RETURN(const Tensor x, Tensor::Of<float>({2}, kX));
  ASSAY_ASSIGN_OR_RETURN(const auto outputs, Run(*network, {{"x", x}}));
  const auto y = outputs.at(0).tensor()->elements<float>();
  if (y[0] != 0 || y[1] != 2) {
    return Internal("Relu of -1, 2 is ", y[0], ", ", y[1]);
  }
  std::cout << names[0] << ": Relu(-1, 2) = " << y[0] << ", " << y[1] << '\n';
  return OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: run_example MODULE\n";
    return 2;
  }
  const Status status = Check(argv[1]);
  if (!status.ok()) std::cerr << status.ToString() << '\n';
  return status.ok() ? 0 : 1;
}
