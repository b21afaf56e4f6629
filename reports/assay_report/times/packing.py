# SPDX-License-Identifier: Apache-2.0
"""Packs the times of cells for the panel and the table of times.

    block = pack_times(cells, times.rows)

Numbers keep two to four digits; time.csv has five. The reader is
templates/times/times.js.
"""

from itertools import pairwise

from assay_report.payload import Cells, Packer, significant
from assay_report.times.rows import TimeRows

_WORDS = (
    *("phase", "inner_iters", "n_samples", "stop_reason", "warmup_iters", "noisy"),
    "bound",
)
_COUNTS = ("n_outlier_mild", "n_outlier_severe", "steal_ticks")
# Numbers with how many digits the page shows of them.
_NUMBERS = {
    **dict.fromkeys(("median_ns", "ci95_lo_ns", "ci95_hi_ns"), 4),
    **dict.fromkeys(("min_ns", "p25_ns", "p75_ns", "p90_ns", "p99_ns"), 3),
    **dict.fromkeys(("gflop_s", "gb_s", "intensity", "roof_frac"), 3),
    **dict.fromkeys(("lag1_autocorr", "psi_cpu_some_pct"), 2),
}


def pack_times(cells: Cells, rows: TimeRows) -> str:
    """The block's text."""
    pack = Packer()
    kept = [(cell, one) for cell, own in sorted(rows.of_cell.items()) for one in own]
    steps = [b - a for a, b in pairwise([0, *(cell for cell, _ in kept)])]
    cell_step = pack.numbers(steps)  # as the head has them: step, then columns
    column = {}
    for name in (*_WORDS, *_COUNTS, *_NUMBERS):
        digits = _NUMBERS.get(name, 0)
        texts = [significant(rows.table[name][one.row], digits) for _, one in kept]
        if any(texts):
            column[name] = pack.texts(texts)
    return pack.finish({"cell_step": cell_step, "column": column})
