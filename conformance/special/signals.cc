// SPDX-License-Identifier: Apache-2.0
//
// Pictures and signals by hand: MaxRoiPool, of which ONNX has no case,
// RoiAlign, DeformConv, ImageDecoder, DFT, STFT, MelWeightMatrix and windows.
// The page of MaxRoiPool-22 gives shapes and no formula; what is asked here
// holds under every reading of it: corners are whole numbers after scaling,
// each region begins and ends inside the picture, and its cells come out even.
// That both corners belong to a region is the layer's of the paper that the
// operator is from (Girshick, "Fast R-CNN").

#include "conformance/special/special.h"

namespace assay::inline v1 {
namespace {

#define ASSAY_POOL(type, rois, pooled, attributes)                            \
  "g (" type "[1,1,4,4] x, " type "[" rois ",5] r) => (" type "[" rois        \
  ",1," pooled "] y) { y = MaxRoiPool<pooled_shape = [" pooled "]" attributes \
  ">(x, r) }"

// Lines of 1 to 4, 5 to 8, 9 to 12 and 13 to 16.
Value Square(DType type) {
  return By(type, {1, 1, 4, 4}, [](int64_t i) { return i + 1.0; });
}

// Each number less than the one before, all below zero.
Value Falling(DType type) {
  return By(type, {1, 1, 4, 4}, [](int64_t i) { return -1.0 - i; });
}

// P6 2 1 255, and two pixels.
Value Pixmap() {
  return Of(kU8, {17},
            {'P', '6', ' ', '2', ' ', '1', ' ', '2', '5', '5', '\n', 1, 2, 3, 4,
             5, 6});
}

// A band from bin 1 by its peak in bin 3 to bin 7.
Value Triangle(DType type) {
  return Of(type, {18, 1},
            {0, 0, 0.5, 1, 0.75, 0.5, 0.25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

constexpr SpecialCase kCases[] = {
    {"MaxRoiPool/quarters", "the last of each 2 by 2: rows from 0 to 3",
     ASSAY_POOL("float", "1", "2,2", ""),
     [] {
       return Values{Square(kF32), Of(kF32, {1, 5}, {0, 0, 0, 3, 3})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {6, 8, 14, 16})};
     }},
    {"MaxRoiPool/below_zero",
     "the maximum begins with an element, not with 0: the first of each cell",
     ASSAY_POOL("float", "1", "2,2", ""),
     [] {
       return Values{Falling(kF32), Of(kF32, {1, 5}, {0, 0, 0, 3, 3})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {-1, -3, -9, -11})};
     }},
    {"MaxRoiPool/x_before_y",
     "a region is x1, y1, x2, y2, and pooled_shape height, width: columns 2 "
     "and "
     "3 of line 0, then column 0 of lines 2 and 3",
     ASSAY_POOL("float", "2", "1,2", ""),
     [] {
       return Values{Square(kF32),
                     Of(kF32, {2, 5}, {0, 2, 0, 3, 0, 0, 0, 2, 1, 3})};
     },
     [] {
       return Values{Of(kF32, {2, 1, 1, 2}, {3, 4, 13, 14})};
     }},
    {"MaxRoiPool/height_before_width", "two lines, one column: lines 1 and 2",
     ASSAY_POOL("double", "1", "2,1", ""),
     [] {
       return Values{Square(kF64), Of(kF64, {1, 5}, {0, 0, 1, 1, 2})};
     },
     [] {
       return Values{Of(kF64, {1, 1, 2, 1}, {6, 10})};
     }},
    {"MaxRoiPool/scale", "corners 2 and 6 at half the scale are 1 and 3",
     ASSAY_POOL("float", "1", "1,1", ", spatial_scale = 0.5"),
     [] {
       return Values{Falling(kF32), Of(kF32, {1, 5}, {0, 2, 2, 6, 6})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 1, 1}, {-6})};
     }},
    {"MaxRoiPool/images", "each region is of the image that it names",
     "g (float16[2,2,1,1] x, float16[3,5] r) => (float16[3,2,1,1] y) "
     "{ y = MaxRoiPool<pooled_shape = [1, 1]>(x, r) }",
     [] {
       return Values{Of(kF16, {2, 2, 1, 1}, {1, 2, 3, 4}),
                     Of(kF16, {3, 5},
                        {1, 0, 0, 0, 0, 0, 0, 0, 0, 0,  //
                         1, 0, 0, 0, 0})};
     },
     [] {
       return Values{Of(kF16, {3, 2, 1, 1}, {3, 4, 1, 2, 3, 4})};
     }},
    {"MaxRoiPool/bfloat16", "no arithmetic: 255 is a bfloat16, 257 is none",
     ASSAY_POOL("bfloat16", "1", "1,1", ""),
     [] {
       return Values{All(kBF16, {1, 1, 4, 4}, 255),
                     Of(kBF16, {1, 5}, {0, 0, 0, 3, 3})};
     },
     [] {
       return Values{Of(kBF16, {1, 1, 1, 1}, {255})};
     }},
    {"DeformConv/line",
     "one spatial axis; halfway between 1, 2, 4, 8, the last beside a zero",
     "g (float[1,1,4] x, float[1,1,1] w, float[1,1,4] o) => (float[1,1,4] y) "
     "{ y = DeformConv(x, w, o) }",
     [] {
       return Values{Of(kF32, {1, 1, 4}, {1, 2, 4, 8}),
                     Of(kF32, {1, 1, 1}, {1}), All(kF32, {1, 1, 4}, 0.5)};
     },
     [] {
       return Values{Of(kF32, {1, 1, 4}, {1.5, 3, 6, 4})};
     }},
    {"DeformConv/groups",
     "channels and offsets in two groups: 1 to the right, and half to the left",
     "g (double[1,2,1,2] x, double[2,1,1,1] w, double[1,4,1,2] o) => "
     "(double[1,2,1,2] y) "
     "{ y = DeformConv<group = 2, offset_group = 2>(x, w, o) }",
     [] {
       return Values{Of(kF64, {1, 2, 1, 2}, {1, 2, 16, 32}),
                     All(kF64, {2, 1, 1, 1}, 1),
                     Of(kF64, {1, 4, 1, 2}, {0, 0, 1, 1, 0, 0, -0.5, -0.5})};
     },
     [] {
       return Values{Of(kF64, {1, 2, 1, 2}, {2, 0, 8, 24})};
     }},
    {"DeformConv/dilation_and_stride",
     "taps 1, 10 two apart, at every second place, without offsets",
     "g (float[1,1,5] x, float[1,1,2] w, float[1,2,2] o) => (float[1,1,2] y) "
     "{ y = DeformConv<dilations = [2], strides = [2]>(x, w, o) }",
     [] {
       return Values{Of(kF32, {1, 1, 5}, {1, 2, 3, 4, 5}),
                     Of(kF32, {1, 1, 2}, {1, 10}), All(kF32, {1, 2, 2}, 0)};
     },
     [] {
       return Values{Of(kF32, {1, 1, 2}, {31, 53})};
     }},
    {"DeformConv/pads",
     "beginnings first: a line on both sides, two columns behind",
     "g (float[1,1,2,2] x, float[1,1,1,1] w, float[1,2,4,4] o) => "
     "(float[1,1,4,4] y) { y = DeformConv<pads = [1, 0, 1, 2]>(x, w, o) }",
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {1, 2, 3, 4}),
                     Of(kF32, {1, 1, 1, 1}, {1}), All(kF32, {1, 2, 4, 4}, 0)};
     },
     [] {
       return Values{Of(kF32, {1, 1, 4, 4},
                        {0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0})};
     }},
    {"RoiAlign/images", "each region is of the image that it names",
     "g (float[2,1,1,1] x, float[2,4] r, int64[2] b) => (float[2,1,1,1] y) "
     "{ y = RoiAlign(x, r, b) }",
     [] {
       return Values{Of(kF32, {2, 1, 1, 1}, {3, 5}),
                     Of(kF32, {2, 4}, {0, 0, 1, 1, 0, 0, 1, 1}),
                     Whole(kI64, {2}, {1, 0})};
     },
     [] {
       return Values{Of(kF32, {2, 1, 1, 1}, {5, 3})};
     }},
    {"RoiAlign/height_before_width",
     "one line of two columns: means of (1, 5) and (3, 7), on the pixels "
     "themselves",
     "g (float[1,1,2,2] x, float[1,4] r, int64[1] b) => (float[1,1,1,2] y) "
     "{ y = RoiAlign<output_height = 1, output_width = 2>(x, r, b) }",
     [] {
       return Values{Of(kF32, {1, 1, 2, 2}, {1, 3, 5, 7}),
                     Of(kF32, {1, 4}, {0, 0, 2, 2}), Whole(kI64, {1}, {0})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 1, 2}, {3, 5})};
     }},
    {"DFT/filled_up", "one sample and a zero: the sample at each frequency",
     "g (float[1,1,1] x, int64 n) => (float[1,2,2] y) { y = DFT(x, n) }",
     [] {
       return Values{Of(kF32, {1, 1, 1}, {3}), Whole(kI64, {}, {2})};
     },
     [] {
       return Values{Of(kF32, {1, 2, 2}, {3, 0, 3, 0})};
     }},
    {"DFT/cut", "sum and difference of the first two",
     "g (double[1,3,1] x, int64 n) => (double[1,2,2] y) { y = DFT(x, n) }",
     [] {
       return Values{Of(kF64, {1, 3, 1}, {1, 2, 7}), Whole(kI64, {}, {2})};
     },
     [] {
       return Values{Of(kF64, {1, 2, 2}, {3, 0, -1, 0})};
     }},
    {"ImageDecoder/pixmap", "one line of two pixels; RGB is the default",
     "g (uint8[17] x) => (uint8[1,2,3] y) { y = ImageDecoder(x) }",
     [] { return Values{Pixmap()}; },
     [] {
       return Values{Of(kU8, {1, 2, 3}, {1, 2, 3, 4, 5, 6})};
     }},
    {"ImageDecoder/bgr", "blue first",
     "g (uint8[17] x) => (uint8[1,2,3] y) "
     "{ y = ImageDecoder<pixel_format = \"BGR\">(x) }",
     [] { return Values{Pixmap()}; },
     [] {
       return Values{Of(kU8, {1, 2, 3}, {3, 2, 1, 6, 5, 4})};
     }},
    {"ImageDecoder/grey",
     "P2 3 1 3: samples of 0, 1 and 3 are 0, 85 and 255; one channel, for "
     "which grey stays grey by any weights",
     "g (uint8[14] x) => (uint8[1,3,1] y) "
     "{ y = ImageDecoder<pixel_format = \"Grayscale\">(x) }",
     [] {
       return Values{Of(kU8, {14},
                        {'P', '2', ' ', '3', ' ', '1', ' ', '3', ' ', '0', ' ',
                         '1', ' ', '3'})};
     },
     [] {
       return Values{Of(kU8, {1, 3, 1}, {0, 85, 255})};
     }},
    {"STFT/window", "of (a, b) times (1, 10): sum and difference",
     "g (float[1,4,1] x, int64 s, float[2] w) => (float[1,3,2,2] y) "
     "{ y = STFT(x, s, w) }",
     [] {
       return Values{Of(kF32, {1, 4, 1}, {1, 2, 3, 4}), Whole(kI64, {}, {1}),
                     Of(kF32, {2}, {1, 10})};
     },
     [] {
       return Values{Of(kF32, {1, 3, 2, 2},
                        {21, 0, -19, 0, 32, 0, -28, 0, 43, 0, -37, 0})};
     }},
    {"STFT/two_sided", "four frequencies of four samples; an impulse has all",
     "g (float[1,4,1] x, int64 s, int64 n) => (float[1,1,4,2] y) "
     "{ y = STFT<onesided = 0>(x, s, , n) }",
     [] {
       return Values{Of(kF32, {1, 4, 1}, {3, 0, 0, 0}), Whole(kI64, {}, {1}),
                     Whole(kI64, {}, {4})};
     },
     [] {
       return Values{Of(kF32, {1, 1, 4, 2}, {3, 0, 3, 0, 3, 0, 3, 0})};
     }},
    {"STFT/one_sample",
     "frames of one sample, two apart, are what they are; the last is left "
     "over",
     "g (float16[1,4,1] x, int32 s, int32 n) => (float16[1,2,1,2] y) "
     "{ y = STFT(x, s, , n) }",
     [] {
       return Values{Of(kF16, {1, 4, 1}, {1, 2, 3, 4}), Whole(kI32, {}, {2}),
                     Whole(kI32, {}, {1})};
     },
     [] {
       return Values{Of(kF16, {1, 2, 1, 2}, {1, 0, 3, 0})};
     }},
    // mel(700 (2^k - 1)) is k mel(700). Where the page is silent, ONNX's
    // reference implementation: the distance is that of the edges by
    // num_mel_bins + 2, and a frequency f lies in bin floor((dft_length + 1) f
    // / sample_rate).
    {"MelWeightMatrix/lower_edge",
     "edges of k = 1 and 4, points of k = 1, 2 and 3: bins 1, 3 and 7",
     "g (int32 b, int32 n, int32 r, float l, float u) => (float[18,1] y) "
     "{ y = MelWeightMatrix(b, n, r, l, u) }",
     [] {
       return Values{Whole(kI32, {}, {1}), Whole(kI32, {}, {34}),
                     Whole(kI32, {}, {22400}), Of(kF32, {}, {700}),
                     Of(kF32, {}, {10500})};
     },
     // 35 / 32 times 1, 3 and 7 is 1.09, 3.28 and 7.66.
     [] { return Values{Triangle(kF32)}; }},
    {"MelWeightMatrix/output_datatype", "the same of float64",
     "g (int64 b, int64 n, int64 r, double l, double u) => (double[18,1] y) "
     "{ y = MelWeightMatrix<output_datatype = 11>(b, n, r, l, u) }",
     [] {
       return Values{Whole(kI64, {}, {1}), Whole(kI64, {}, {34}),
                     Whole(kI64, {}, {22400}), Of(kF64, {}, {700}),
                     Of(kF64, {}, {10500})};
     },
     [] { return Values{Triangle(kF64)}; }},
    {"HannWindow/symmetric", "the squares of sin 0, sin pi / 2 and sin pi",
     "g (int64 n) => (float[3] y) { y = HannWindow<periodic = 0>(n) }",
     [] { return Values{Whole(kI64, {}, {3})}; },
     [] {
       return Values{Of(kF32, {3}, {0, 1, 0})};
     }},
};

}  // namespace

std::span<const SpecialCase> SignalsCases() { return kCases; }

}  // namespace assay::inline v1
