// SPDX-License-Identifier: Apache-2.0

#include "perf/overhead/libtorch_peer.h"

#include <torch/torch.h>

#include <string>

namespace {

struct LeNet5 : torch::nn::Module {
  LeNet5() {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    register_module("fc3", fc3);
  }

  torch::Tensor Scores(torch::Tensor x) {
    x = torch::max_pool2d(torch::relu(conv1(x)), 2);
    x = torch::max_pool2d(torch::relu(conv2(x)), 2);
    x = torch::relu(fc1(x.flatten(1)));
    return fc3(torch::relu(fc2(x)));
  }

  torch::nn::Conv2d conv1{torch::nn::Conv2dOptions(1, 6, 5).padding(2)};
  torch::nn::Conv2d conv2{torch::nn::Conv2dOptions(6, 16, 5)};
  torch::nn::Linear fc1{400, 120}, fc2{120, 84}, fc3{84, 10};
};

struct Peer {
  Peer(int64_t batch, double rate, double momentum)
      : optimizer(net.parameters(),
                  torch::optim::SGDOptions(rate).momentum(momentum)),
        images(torch::rand({batch, 1, 28, 28})),
        classes(torch::arange(batch) % 10) {}

  LeNet5 net;
  torch::optim::SGD optimizer;
  torch::Tensor images, classes;
};

}  // namespace

void* assay_peer_begin(const char* model, int64_t batch, double rate,
                       double momentum) {
  if (std::string(model) != "lenet5") return nullptr;
  torch::manual_seed(1);
  torch::set_num_threads(1);
  return new Peer(batch, rate, momentum);
}

void assay_peer_steps(void* peer, int64_t steps) {
  Peer& at = *static_cast<Peer*>(peer);
  for (int64_t i = 0; i < steps; ++i) {
    at.optimizer.zero_grad();
    const torch::Tensor loss =
        torch::cross_entropy_loss(at.net.Scores(at.images), at.classes);
    loss.backward();
    at.optimizer.step();
  }
}

const char* assay_peer_name() { return "libtorch " TORCH_VERSION; }
