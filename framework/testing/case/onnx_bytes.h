// SPDX-License-Identifier: Apache-2.0
//
// Small models and tensors as the bytes of ONNX's files, for tests that need a
// case folder. Field numbers are those of onnx.proto.
//
//   folder.Write("model.onnx", ModelBytes({"Abs", 1}));
//   folder.Write("test_data_set_0/input_0.pb", FloatsBytes({1, -2}));

#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cases {

inline std::string VarintBytes(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7U) {
    bytes += static_cast<char>((value & 127U) | 128U);
  }
  return bytes + static_cast<char>(value);
}

/// An integer field, and a field of bytes: text or a message.
inline std::string IntField(int field, uint64_t value) {
  return VarintBytes(static_cast<uint64_t>(field) << 3U) + VarintBytes(value);
}
inline std::string BytesField(int field, std::string_view bytes) {
  return VarintBytes((static_cast<uint64_t>(field) << 3U) | 2U) +
         VarintBytes(bytes.size()) + std::string(bytes);
}

/// A graph input or output: a tensor of shape [2].
inline std::string ValueInfoBytes(std::string_view name, int elem_type) {
  const std::string dim = BytesField(1, IntField(1, 2));
  const std::string tensor =
      IntField(1, static_cast<uint64_t>(elem_type)) + BytesField(2, dim);
  return BytesField(1, name) + BytesField(2, BytesField(1, tensor));
}

/// A chain of `n_nodes` applications of an operator from x to y.
struct ChainModel {
  std::string op_type;
  int n_nodes = 1;
  std::string domain;
  int elem_type = 1;  // float32
};

inline std::string ModelBytes(const ChainModel& model) {
  std::string graph;
  for (int i = 0; i < model.n_nodes; ++i) {
    const std::string in = i == 0 ? "x" : "t" + std::to_string(i);
    const std::string out =
        i + 1 == model.n_nodes ? "y" : "t" + std::to_string(i + 1);
    graph += BytesField(1, BytesField(1, in) + BytesField(2, out) +
                               BytesField(4, model.op_type) +
                               BytesField(7, model.domain));
  }
  graph += BytesField(2, "g") +
           BytesField(11, ValueInfoBytes("x", model.elem_type)) +
           BytesField(12, ValueInfoBytes("y", model.elem_type));
  return IntField(1, 8) + BytesField(7, graph) +
         BytesField(8, BytesField(1, model.domain) + IntField(2, 13));
}

/// A TensorProto of float32, of rank 1.
inline std::string FloatsBytes(const std::vector<float>& values) {
  std::string raw(values.size() * sizeof(float), '\0');
  if (!values.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  return IntField(1, values.size()) + IntField(2, 1) + BytesField(9, raw);
}

}  // namespace assay::cases
