"""What a projection counts: the design as it is given, or what the paper's totals count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from hls_model.config import Config
from hls_model.errors import ModelError

__all__ = ["ACCOUNTINGS", "PAPER", "Accounting", "check_accounting", "counted"]

Accounting = Literal["design", "paper"]
ACCOUNTINGS: Mapping[Accounting, str] = {
    "design": "LD, layout of columns and starts of kernels as the design has them",
    "paper": "LD of all pairs of SNPs at the rate of the accelerator that it cites, columns aligned as they come from "
    "memory, one start of the kernels for all positions",
}
PAPER: Mapping[str, str] = {"ld": "published", "layout": "shifted", "launch": "per_scan"}


def counted(config: Config, accounting: Accounting) -> Config:
    """Return the design as an accounting has it.

    With 'paper', LD comes from the published accelerator, a shifter aligns columns and the kernels are started once;
    the pairs of LD (`hls_model.project.project`) are then all pairs.

    Raises
    ------
    ModelError
        No such accounting.
    """
    check_accounting(accounting)
    return config.but(**PAPER) if accounting == "paper" else config


def check_accounting(accounting: str) -> None:
    """Refuse an accounting that does not exist.

    Raises
    ------
    ModelError
        No such accounting.
    """
    if accounting not in ACCOUNTINGS:
        raise ModelError(f"accounting is {accounting!r}; choose one of {', '.join(ACCOUNTINGS)}")
