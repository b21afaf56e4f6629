// SPDX-License-Identifier: Apache-2.0
//
// The discrete Fourier transform of one line, as its sum says: what DFT and
// STFT have in common.
//
// Source: the page of DFT-20.

#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {

/// Where the numbers of a line stand: `parts` 1 for real, 2 for complex.
struct Signal {
  int64_t length = 0;
  int64_t step = 0;
  int64_t parts = 1;
};

/// The powers of the N-th root of unity.
template <class T>
class Rotations {
 public:
  /// `length` is N, at least 1.
  explicit Rotations(int64_t length) : length_(length) {
    const T eighth = atan(T(1));
    for (int64_t i = 0; i < length; ++i) {
      // Within one eighth of a turn, so that quarters of it are exact.
      const int64_t octant = 8 * i / length;
      const int64_t rest = 8 * i - octant * length;
      const T share = static_cast<T>(octant % 2 == 0 ? rest : length - rest) /
                      static_cast<T>(length);
      Add(octant, cos(eighth * share), sin(eighth * share));
    }
  }

  /// X[k] = sum over n of x[n] exp(-2 pi i k n / N) for k < to.length, or with
  /// the other sign and divided by N for the inverse; x is cut, or filled up
  /// with zeros, to N.
  void Transform(const T* x, const Signal& from, T* y, const Signal& to,
                 bool inverse) const {
    const int64_t given = std::min(from.length, length_);
    const T scale = inverse ? T(1) / static_cast<T>(length_) : T(1);
    for (int64_t k = 0; k < to.length; ++k) {
      T real(0);
      T imaginary(0);
      int64_t turn = 0;  // k * n modulo N
      for (int64_t n = 0; n < given; ++n) {
        const T* at = x + n * from.step;
        const T c = cosines_[static_cast<size_t>(turn)];
        const T s = inverse ? sines_[static_cast<size_t>(turn)]
                            : -sines_[static_cast<size_t>(turn)];
        real += at[0] * c;
        imaginary += at[0] * s;
        if (from.parts == 2) {
          real -= at[1] * s;
          imaginary += at[1] * c;
        }
        turn = (turn + k) % length_;
      }
      y[k * to.step] = real * scale;
      if (to.parts == 2) y[k * to.step + 1] = imaginary * scale;
    }
  }

 private:
  // Adds an angle from the nearest axis, in the octant counted from 0.
  void Add(int64_t octant, const T& c, const T& s) {
    const bool steep = octant % 4 == 1 || octant % 4 == 2;
    const T cosine = steep ? s : c;
    const T sine = steep ? c : s;
    cosines_.push_back(octant >= 2 && octant <= 5 ? -cosine : cosine);
    sines_.push_back(octant >= 4 ? -sine : sine);
  }

  int64_t length_;
  Scratch<T> cosines_;
  Scratch<T> sines_;
};

}  // namespace assay::reference
