# SPDX-License-Identifier: Apache-2.0
"""Assay's reports: readers of a run folder and writers of what people open.

One module per verb. Reports read the files of a run and nothing else; they
judge nothing again. From a shell:

    PYTHONPATH=reports python -m assay_report page RUN_DIR --out report.html
"""
