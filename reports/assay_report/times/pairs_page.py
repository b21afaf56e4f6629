# SPDX-License-Identifier: Apache-2.0
"""The verb `pairs`: one HTML file of what `assay compare` found, or of overhead.

    write_pairs_page(Path("compared"), Path("pairs.html"))

Reads compare.csv and overhead.csv, one of which may be missing. No script is needed.
"""

from pathlib import Path

from assay_report.glossary import WORDS
from assay_report.page import environment, inline, write_whole
from assay_report.run_folder import RunFolderError, Table, read_beside
from assay_report.times.ratios import assess_overhead, assess_pairs

_WORDS = ("same", "worse", "better", "unsure", "interval", "noisy")


def write_pairs_page(folder: Path, out: Path) -> None:
    """Reads the tables of the folder and replaces `out` in one step."""
    compared, overhead = (read_beside(folder, one) for one in ("compare", "overhead"))
    if not (len(compared) or len(overhead)):
        raise RunFolderError(
            f"{folder}: found no case in compare.csv or overhead.csv, wanted a folder "
            "that assay compare wrote"
        )
    write_whole(out, render_pairs_page(compared, overhead))


def render_pairs_page(compared: Table, overhead: Table) -> str:
    """The page as text."""
    return (
        environment()
        .get_template("times/page.html")
        .render(
            pairs=assess_pairs(compared),
            overhead=assess_overhead(overhead),
            words={word: WORDS[word] for word in _WORDS},
            style=inline("page.css", "plot.css", "times/times.css"),
        )
    )
