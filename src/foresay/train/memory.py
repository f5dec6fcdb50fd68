"""Peak memory of a piece of work: of the process on a CPU, of the device on a GPU."""

from __future__ import annotations

import ctypes
import resource
from pathlib import Path

import torch


class PeakMemory:
    """From its making on; `bytes()` is the peak above what was already held then.

    Linux lets a process set its own peak back; elsewhere the peak of the whole process is given.
    """

    def __init__(self, device: torch.device):
        self.device = device
        self.before = 0
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
            self.before = torch.cuda.memory_allocated(device)
            return
        try:
            ctypes.CDLL(None).malloc_trim(0)  # what was freed before is not ours to count as held
            Path("/proc/self/clear_refs").write_text("5")
            self.before = _status("VmRSS")
        except (OSError, AttributeError):
            self.before = 0

    def bytes(self) -> int:
        if self.device.type == "cuda":
            return torch.cuda.max_memory_allocated(self.device) - self.before
        if self.before:
            return max(_status("VmHWM") - self.before, 0)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _status(name: str) -> int:
    """A line of /proc/self/status, in bytes; 0 where there is none."""
    for line in Path("/proc/self/status").read_text("ascii").split("\n"):
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0
