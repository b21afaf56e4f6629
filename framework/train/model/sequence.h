// SPDX-License-Identifier: Apache-2.0
//
// Models that read an image as a sequence of its rows, each with all channels.
//
//   Lstm(&sketch);
//   Transformer(&sketch);

#pragma once

#include "framework/train/model/sketch.h"

namespace assay::train {

/// One layer of 64 long short-term memory cells (S. Hochreiter, J. Schmidhuber,
/// "Long Short-Term Memory", 1997, as ONNX's LSTM states it), and a layer of
/// their last outputs. The biases of the forget gates are 1 at first (R.
/// Jozefowicz et al., "An Empirical Exploration of Recurrent Network
/// Architectures", 2015, section 2.2).
void Lstm(Sketch* to);

/// A layer into 64 numbers a row, to which a learned place is added; one block
/// of attention with 4 heads and of two layers with Gelu between them, each
/// behind a LayerNormalization and beside a shortcut, with Dropout of 0.1 (A.
/// Vaswani et al., "Attention Is All You Need", 2017, sections 3.2 and 5.4;
/// normalized in front as in A. Dosovitskiy et al., "An Image is Worth 16x16
/// Words", 2021, section 3.1); a LayerNormalization, the mean over the rows,
/// and a layer.
void Transformer(Sketch* to);

}  // namespace assay::train
