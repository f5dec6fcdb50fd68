"""Linear recurrent unit (Orvieto et al. 2023): a complex diagonal recurrence, then a real projection.

    lambda = exp(-exp(nu) + i exp(theta))        so |lambda| < 1 whatever is learnt
    s' = lambda * s + exp(gamma) * (x B)         s complex, B complex
    h' = g(Re(s' C) + x E)                       C complex, E real

At first |lambda|^2 is uniform between `least`^2 and `most`^2, the angle between 0 and `phase`, and
exp(gamma) = sqrt(1 - |lambda|^2), so that s has the size of x B however long its memory is. Complex numbers are kept as
two real states, re and im. g is the identity, as in the paper, where the layers between are not linear; a stack of
nothing but this unit needs another.

x (B, T, D) -> y (B, T, H); states h, re, im, each (B, H). Gates lie in the order Re(x B), Im(x B), out.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import torch
import torch.nn.functional as F
from annotated_types import Gt, Le
from torch import Tensor

from foresay.encode.cells.cell import Memory, stage
from foresay.encode.cells.scanned import Scanned, Values
from foresay.errors import UserError
from foresay.kernels.recurrent.maths import Returned
from foresay.kernels.scan import linear_scan
from foresay.parts import Rate, Share, part

ACTIVATIONS = {"identity": lambda v: v, "tanh": torch.tanh, "gelu": F.gelu}


@part("cell", "lru")
class LRU(Scanned):
    """Linear recurrent unit: complex, diagonal, all steps at once."""

    states = ("h", "re", "im")
    gates = ("u", "v", "out")
    vectors = ("nu", "theta", "gamma")
    biased = False

    def __init__(
        self,
        *,
        least: Share = 0.0,
        most: Annotated[float, Gt(0), Le(1)] = 1.0,
        phase: Rate = 2 * math.pi,
        activation: Literal["identity", "tanh", "gelu"] = "identity",
    ) -> None:
        super().__init__()
        if least >= most:
            raise UserError(f"cell lru: least={least}, most={most}; allowed: least < most")
        self.least, self.most, self.phase = least, most, phase
        self.activate = ACTIVATIONS[activation]

    def build(self, in_width: int, size: int) -> None:
        super().build(in_width, size)
        with torch.no_grad():
            share = torch.rand(size).clamp(1e-6, 1 - 1e-6)
            squared = self.least**2 + share * (self.most**2 - self.least**2)
            self.get_parameter("nu").copy_((-squared.log() / 2).log())
            self.get_parameter("theta").copy_((self.phase * torch.rand(size).clamp(1e-6)).log())
            self.get_parameter("gamma").copy_((1 - squared).log() / 2)
            self.weight_ih[: 2 * size].normal_(std=(2 * in_width) ** -0.5)
            for name in ("weight_new_re", "weight_new_im"):
                self.get_parameter(name).normal_(std=size**-0.5)

    @stage(u="", v="")
    def admit(self, u: Tensor, v: Tensor, gamma: Tensor) -> Returned:
        return {"add_re": gamma.exp() * u, "add_im": gamma.exp() * v}

    @stage()
    def remember(self, add_re: Tensor, add_im: Tensor, re: Tensor, im: Tensor, nu: Tensor, theta: Tensor) -> Returned:
        real, imaginary = eigenvalues(nu, theta)
        return {"re": real * re - imaginary * im + add_re, "im": real * im + imaginary * re + add_im}

    @stage(out="new_re new_im")
    def show(self, out: Tensor) -> Returned:
        return {"h": self.activate(out)}

    def scan(self, values: Values, memory: Memory, mask: Tensor | None) -> Values:
        add = torch.complex(values["value:add_re"], values["value:add_im"])
        keep = torch.complex(*eigenvalues(values["vector:nu"], values["vector:theta"])).to(add.dtype).expand_as(add)
        if mask is not None:
            keep, add = keep.masked_fill(~mask, 1), add.masked_fill(~mask, 0)
        before = torch.complex(*(memory[name].to(values["value:add_re"].dtype) for name in ("re", "im")))
        s = linear_scan(keep, add, before)
        return {"new:re": s.real, "new:im": s.imag}


def eigenvalues(nu: Tensor, theta: Tensor) -> tuple[Tensor, Tensor]:
    """lambda as its real and its imaginary part."""
    size, angle = (-nu.exp()).exp(), theta.exp()
    return size * angle.cos(), size * angle.sin()
