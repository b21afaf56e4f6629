# SPDX-License-Identifier: Apache-2.0
"""Command line: python -m assay_report page RUN_DIR --out FILE.html, and others."""

import argparse
import sys
from pathlib import Path

from assay_report.deep500 import export_deep500
from assay_report.page import write_page
from assay_report.run_folder import RunFolderError
from assay_report.scaling import SMPI, Network
from assay_report.times.google_benchmark import export_google_benchmark
from assay_report.times.pairs_page import write_pairs_page
from assay_report.trace import write_trace
from assay_report.training_page import write_training_page

HARNESS_ERROR = 99


def main(arguments: list[str] | None = None) -> int:
    """Runs one verb; returns the process's exit code."""
    parser = argparse.ArgumentParser(prog="assay_report")
    verbs = parser.add_subparsers(dest="verb", required=True)
    page = verbs.add_parser("page", help="one self-contained HTML file")
    page.add_argument("run", type=Path, metavar="RUN_DIR")
    page.add_argument("--out", type=Path, required=True, metavar="FILE.html")
    page.add_argument(
        "--alpha", type=_seconds, metavar="SECONDS", help="of a message, simulated"
    )
    page.add_argument(
        "--beta", type=_seconds, metavar="SECONDS_PER_BYTE", help="of each of its bytes"
    )
    training = verbs.add_parser("training", help="one HTML file of training runs")
    training.add_argument("runs", type=Path, nargs="+", metavar="RUN_DIR")
    training.add_argument("--out", type=Path, required=True, metavar="FILE.html")
    training.add_argument("--accuracy", type=float, help="to come to")
    export = verbs.add_parser("export", help="the tables of the Deep500 thesis")
    export.add_argument("folder", type=Path, metavar="DIR")
    export.add_argument("--run", type=Path, metavar="RUN_DIR")
    export.add_argument(
        "--training", type=Path, action="append", default=[], metavar="RUN_DIR"
    )
    benchmark = verbs.add_parser("google-benchmark", help="times as its JSON")
    benchmark.add_argument("run", type=Path, metavar="RUN_DIR")
    benchmark.add_argument("--out", type=Path, required=True, metavar="FILE.json")
    pairs = verbs.add_parser("pairs", help="one HTML file of a comparison")
    pairs.add_argument("folder", type=Path, metavar="DIR")
    pairs.add_argument("--out", type=Path, required=True, metavar="FILE.html")
    trace = verbs.add_parser("trace", help="the picture of a trace, as SVG")
    trace.add_argument("table", type=Path, metavar="trace.csv")
    trace.add_argument("--out", type=Path, required=True, metavar="FILE.svg")
    options = parser.parse_args(arguments)
    try:
        if options.verb == "export":
            export_deep500(options.folder, options.run, options.training)
        elif options.verb == "google-benchmark":
            export_google_benchmark(options.run, options.out)
        elif options.verb == "pairs":
            write_pairs_page(options.folder, options.out)
        elif options.verb == "trace":
            write_trace(options.table, options.out)
        elif options.verb == "training":
            write_training_page(options.runs, options.out, options.accuracy)
        else:
            write_page(options.run, options.out, _network(parser, options))
    except (RunFolderError, OSError) as error:
        print(f"assay_report: {error}", file=sys.stderr)
        return HARNESS_ERROR
    return 0


def _seconds(text: str) -> float:
    """The seconds of a network that a page simulates."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if 0 < seconds < 1e6:
        return seconds
    raise argparse.ArgumentTypeError(
        f"found {text!r}, wanted seconds above 0 and below 1e6"
    )


def _network(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Network:
    """The one that the command line states, else that of backend smpi."""
    alpha, beta = options.alpha, options.beta
    if alpha is None and beta is None:
        return SMPI
    if alpha is None or beta is None:
        found = "--alpha" if beta is None else "--beta"
        parser.error(f"found {found} alone, wanted --alpha and --beta, or none")
    return Network("a network of the command line", alpha, beta, "--alpha, --beta")


if __name__ == "__main__":
    sys.exit(main())
