# SPDX-License-Identifier: Apache-2.0
"""Runs numpy, its BLAS and libm on kernels that every machine has.

ONNX computes inputs and expected outputs with numpy when the cases are
collected. numpy, OpenBLAS and glibc's libm each pick their kernels by what the
processor offers, so that the last bits of hundreds of outputs, and of one
input, depend on the machine. So the export starts itself again with all three
held at their baseline, and then asks numpy and OpenBLAS what they really use.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

MARKER = "ASSAY_CORPUS_BASELINE"

# The oldest OpenBLAS kernels that run wherever numpy's own baseline runs.
BLAS_KERNELS = {"x86_64": "Nehalem", "aarch64": "ARMV8"}


# glibc chooses the libm functions that use fused multiply-add by these flags.
LIBM_TUNABLES = {"x86_64": "glibc.cpu.hwcaps=-FMA,-FMA4"}


class Features(NamedTuple):
    """The numerical code that runs: kernels of numpy and of its BLAS."""

    cpu: str  # numpy's baseline and every dispatched set that is in use
    blas: str  # the name of OpenBLAS' kernels, or "unknown"
    problem: str  # empty, or why results may differ between machines


def _numpy_sets() -> tuple[list[str], list[str]]:
    """numpy's baseline sets, and the dispatched sets in use."""
    umath = importlib.import_module("numpy._core._multiarray_umath")
    enabled = umath.__cpu_features__
    used = [name for name in umath.__cpu_dispatch__ if enabled.get(name)]
    return list(umath.__cpu_baseline__), used


def _blas_kernel() -> str:
    """The kernels that numpy's bundled OpenBLAS chose; "unknown" without."""
    import numpy

    package = Path(numpy.__file__).parent
    folders = (package.parent / "numpy.libs", package / ".dylibs")
    for folder in folders:
        for path in sorted(folder.glob("*openblas*")):
            library = ctypes.CDLL(str(path))
            for name in (
                "scipy_openblas_get_corename64_",
                "scipy_openblas_get_corename",
            ):
                function = getattr(library, name, None)
                if function is not None:
                    function.restype = ctypes.c_char_p
                    return str(function().decode("ascii"))
    return "unknown"


def baseline_environment(
    environment: Mapping[str, str], used: list[str], machine: str
) -> dict[str, str]:
    """The environment in which numpy uses none of the sets in `used`."""
    result = dict(environment)
    # numpy refuses to start when both variables are set.
    result.pop("NPY_ENABLE_CPU_FEATURES", None)
    result.pop("NPY_DISABLE_CPU_FEATURES", None)
    if used:
        result["NPY_DISABLE_CPU_FEATURES"] = " ".join(used)
    if machine in BLAS_KERNELS:
        result["OPENBLAS_CORETYPE"] = BLAS_KERNELS[machine]
    result["OPENBLAS_NUM_THREADS"] = "1"
    if machine in LIBM_TUNABLES:
        result["GLIBC_TUNABLES"] = LIBM_TUNABLES[machine]
    result["PYTHONHASHSEED"] = "0"
    result[MARKER] = "1"
    return result


def restart_at_baseline() -> None:
    """Replaces this process by one at the baseline, unless it is that one."""
    if os.environ.get(MARKER) == "1":
        return
    # numpy reads both when it is imported, which here only lists its sets.
    os.environ.pop("NPY_ENABLE_CPU_FEATURES", None)
    os.environ.pop("NPY_DISABLE_CPU_FEATURES", None)
    _, used = _numpy_sets()
    environment = baseline_environment(os.environ, used, platform.machine())
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)


def assess(
    baseline: list[str],
    used: list[str],
    blas: str,
    machine: str,
    environment: Mapping[str, str],
) -> Features:
    """Names what runs, and what of it is above the baseline."""
    problems = []
    if used:
        problems.append(f"numpy uses {' '.join(used)} above its baseline")
    wanted = BLAS_KERNELS.get(machine)
    if wanted is None:
        problems.append(f"no BLAS baseline is known for {machine}")
    elif blas.lower() != wanted.lower():
        problems.append(f"BLAS kernels are {blas}, wanted {wanted}")
    tunables = LIBM_TUNABLES.get(machine)
    if tunables and environment.get("GLIBC_TUNABLES") != tunables:
        problems.append(f"libm runs without GLIBC_TUNABLES={tunables}")
    cpu = " ".join([*baseline, *used]) or "none"
    return Features(cpu, blas, "; ".join(problems))


def features() -> Features:
    """The kernels that numpy and its BLAS use in this process."""
    baseline, used = _numpy_sets()
    return assess(
        baseline, used, _blas_kernel(), platform.machine(), os.environ
    )
