# SPDX-License-Identifier: Apache-2.0
"""Command line: python -m assay_report page RUN_DIR --out FILE.html."""

import argparse
import sys
from pathlib import Path

from assay_report.page import write_page
from assay_report.run_folder import RunFolderError

HARNESS_ERROR = 99


def main(arguments: list[str] | None = None) -> int:
    """Runs one verb; returns the process's exit code."""
    parser = argparse.ArgumentParser(prog="assay_report")
    verbs = parser.add_subparsers(dest="verb", required=True)
    page = verbs.add_parser("page", help="one self-contained HTML file")
    page.add_argument("run", type=Path, metavar="RUN_DIR")
    page.add_argument("--out", type=Path, required=True, metavar="FILE.html")
    options = parser.parse_args(arguments)
    try:
        write_page(options.run, options.out)
    except (RunFolderError, OSError) as error:
        print(f"assay_report: {error}", file=sys.stderr)
        return HARNESS_ERROR
    return 0


if __name__ == "__main__":
    sys.exit(main())
