// SPDX-License-Identifier: Apache-2.0
//
// ResNet: residual networks of small images (K. He, X. Zhang, S. Ren, J. Sun, "Deep
// Residual Learning for Image Recognition", 2015, section 4.2).
//
//   ResNet(/*n=*/3, &sketch);   // of 6 n + 2 = 20 layers
//
// A convolution of 3 x 3 and three times n blocks of two, with 16, 32 and 64 channels,
// each behind a normalization of its batch; the mean over the image, and one layer.
// Where the channels double, the image is halved by a stride, and the shortcut leaves
// out every other row and column and has zeros for the new channels: option A, without
// parameters. Weights are of the variance of K. He et al., "Delving Deep into
// Rectifiers", 2015, equation 10, uniform.

#pragma once

#include "framework/train/model/sketch.h"

namespace assay::train {

void ResNet(int n, Sketch* to);

}  // namespace assay::train
