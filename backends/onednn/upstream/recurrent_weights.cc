// SPDX-License-Identifier: Apache-2.0
//
// y = tanh(W x + R h) of one time step and h = 0: the gradient of R is dy' h =
// 0. oneDNN gives 0 where h is passed as zeros, and other numbers where
// src_iter is left out, which its documentation says means zeros.
//
//   build/bin/recurrent_weights; echo $?
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <dnnl.hpp>
#include <unordered_map>
#include <vector>

namespace {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
using Arguments = std::unordered_map<int, dnnl::memory>;

constexpr dnnl::memory::dim kBatch = 2;
constexpr dnnl::memory::dim kInputs = 3;
constexpr dnnl::memory::dim kStates = 4;

Desc Described(const dnnl::memory::dims& dims, Tag tag) {
  return {dims, dnnl::memory::data_type::f32, tag};
}

// One layer, one direction, one gate, one step.
struct Layout {
  Desc input = Described({1, kBatch, kInputs}, Tag::tnc);
  Desc state = Described({1, 1, kBatch, kStates}, Tag::ldnc);
  Desc weights = Described({1, 1, kInputs, 1, kStates}, Tag::ldigo);
  Desc recurrent = Described({1, 1, kStates, 1, kStates}, Tag::ldigo);
  Desc bias = Described({1, 1, 1, kStates}, Tag::ldgo);
  Desc output = Described({1, kBatch, kStates}, Tag::tnc);
};

class Rnn {
 public:
  explicit Rnn(bool with_state) : with_state_(with_state) {}

  // The greatest magnitude in the gradient of the recurrent weights.
  float GreatestRecurrentGradient() {
    const Desc none;
    const Desc& state = with_state_ ? is_.state : none;
    const Desc weights = Described(is_.weights.get_dims(), Tag::any);
    const Desc recurrent = Described(is_.recurrent.get_dims(), Tag::any);
    const auto tanh = dnnl::algorithm::eltwise_tanh;
    const auto direction = dnnl::rnn_direction::unidirectional_left2right;
    const dnnl::vanilla_rnn_forward::primitive_desc forward(
        engine_, dnnl::prop_kind::forward_training, tanh, direction, is_.input,
        state, weights, recurrent, is_.bias, is_.output, none);
    const dnnl::vanilla_rnn_backward::primitive_desc backward(
        engine_, dnnl::prop_kind::backward, tanh, direction, is_.input, state,
        weights, recurrent, is_.bias, is_.output, none, is_.input, state,
        weights, recurrent, is_.bias, is_.output, none, forward);

    Arguments all = {
        {DNNL_ARG_SRC_LAYER, Numbers(is_.input, 5)},
        {DNNL_ARG_WEIGHTS_LAYER,
         As(forward.weights_layer_desc(), Numbers(is_.weights, 7))},
        {DNNL_ARG_WEIGHTS_ITER,
         As(forward.weights_iter_desc(), Numbers(is_.recurrent, 11))},
        {DNNL_ARG_BIAS, Numbers(is_.bias, 3)},
        {DNNL_ARG_DST_LAYER, Zeros(is_.output)},
        {DNNL_ARG_WORKSPACE, dnnl::memory(forward.workspace_desc(), engine_)}};
    if (with_state_) {
      all[DNNL_ARG_SRC_ITER] = Zeros(is_.state);
      all[DNNL_ARG_DIFF_SRC_ITER] = Zeros(is_.state);
    }
    dnnl::vanilla_rnn_forward(forward).execute(stream_, all);
    stream_.wait();

    all[DNNL_ARG_WEIGHTS_LAYER] =
        As(backward.weights_layer_desc(), Numbers(is_.weights, 7));
    all[DNNL_ARG_WEIGHTS_ITER] =
        As(backward.weights_iter_desc(), Numbers(is_.recurrent, 11));
    all[DNNL_ARG_DIFF_SRC_LAYER] = Zeros(is_.input);
    all[DNNL_ARG_DIFF_WEIGHTS_LAYER] =
        Zeros(backward.diff_weights_layer_desc());
    all[DNNL_ARG_DIFF_WEIGHTS_ITER] = Zeros(backward.diff_weights_iter_desc());
    all[DNNL_ARG_DIFF_BIAS] = Zeros(is_.bias);
    all[DNNL_ARG_DIFF_DST_LAYER] = Numbers(is_.output, 13);
    dnnl::vanilla_rnn_backward(backward).execute(stream_, all);
    stream_.wait();

    float greatest = 0;
    for (const float each :
         ElementsOf(As(is_.recurrent, all[DNNL_ARG_DIFF_WEIGHTS_ITER]))) {
      greatest = std::max(greatest, std::fabs(each));
    }
    return greatest;
  }

 private:
  dnnl::memory Zeros(const Desc& desc) {
    dnnl::memory made(desc, engine_);
    std::fill_n(static_cast<std::uint8_t*>(made.get_data_handle()),
                desc.get_size(), std::uint8_t{0});
    return made;
  }

  // Multiples of 1/16 in [-1/2, 1/2].
  dnnl::memory Numbers(const Desc& desc, int multiplier) {
    dnnl::memory made(desc, engine_);
    auto* elements = static_cast<float*>(made.get_data_handle());
    const int count = static_cast<int>(desc.get_size() / sizeof(float));
    for (int i = 0; i < count; ++i) {
      elements[i] = static_cast<float>((i * multiplier + 3) % 17 - 8) / 16;
    }
    return made;
  }

  dnnl::memory As(const Desc& desc, dnnl::memory from) {
    dnnl::memory made(desc, engine_);
    dnnl::reorder(from, made).execute(stream_, from, made);
    stream_.wait();
    return made;
  }

  static std::vector<float> ElementsOf(const dnnl::memory& of) {
    const auto* elements = static_cast<const float*>(of.get_data_handle());
    return {elements, elements + of.get_desc().get_size() / sizeof(float)};
  }

  Layout is_;
  bool with_state_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
};

}  // namespace

int main() {
  const dnnl_version_t* version = dnnl_version();
  const float with = Rnn(true).GreatestRecurrentGradient();
  const float without = Rnn(false).GreatestRecurrentGradient();
  std::printf(
      "oneDNN %d.%d.%d: greatest |diff_weights_iter| after one step\n"
      "  src_iter of zeros: %g\n  no src_iter:       %g (0 is right)\n",
      version->major, version->minor, version->patch, static_cast<double>(with),
      static_cast<double>(without));
  return with == 0 && without == 0 ? 0 : 1;
}
