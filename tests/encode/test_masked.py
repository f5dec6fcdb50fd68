"""PixelCNN and Gated PixelCNN by their formulas, pixel for pixel; what they see, by gradient; step by step."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F

from foresay import parts
from foresay.encode.encoder import State, flatten_state, map_state, reorder
from foresay.encode.masked import Masked
from foresay.errors import UserError

B, R, C, D, H = 2, 5, 4, 3, 7
BLOCKS = ["gated", "residual"]
each_block = pytest.mark.parametrize("block", BLOCKS)


def build(condition: int = 0, **settings: Any) -> Masked:
    torch.manual_seed(1)
    encoder = Masked(**{"size": H, "layers": 3, "first": 5, "columns": C, **settings})
    encoder.condition_width = condition
    encoder.build(D)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return encoder.double().eval()


def inputs(rows: int = B, steps: int = R * C) -> torch.Tensor:
    torch.manual_seed(2)
    return torch.randn(rows, steps, D, dtype=torch.float64)


def begun(encoder: Masked, rows: int, capacity: int | None = None) -> State:
    state = encoder.begin(rows, capacity)
    return map_state(state, lambda one: one.double() if one.is_floating_point() else one)


Grid = dict[tuple[int, int], torch.Tensor]  # what stands at a row and a column


def picture(x: torch.Tensor) -> Grid:
    """A picture of one row of steps: each reads the pixel before; <start>, the end of the row above, among them."""
    return {divmod(step - 1, C): x[step] for step in range(len(x))}


def seen(sight: Any, grid: Grid, r: int, c: int) -> torch.Tensor:
    """A convolution at one pixel, by its sum."""
    across, y = 2 * sight.reach + 1, sight.bias
    for tap in range(sight.weight.shape[1]):
        at = r - sight.up + tap // across, c + tap % across - sight.reach
        if at in grid and 0 <= at[1] < C:
            y = y + sight.weight[:, tap] @ grid[at]
    return y


def gate(x: torch.Tensor) -> torch.Tensor:
    a, b = x.chunk(2)
    return a.tanh() * b.sigmoid()


def test_gated_blocks_are_gated_pixelcnns():
    encoder, x = build(condition=2), inputs(1)
    condition = torch.randn(1, 2, dtype=torch.float64)
    stack, image = encoder.stack, picture(x[0])
    given = stack.given(condition)[0].split([2 * H, 2 * H] * 3)
    u: Grid = {(r + 1, c): value for (r, c), value in image.items()}  # the picture, a row down
    h, skips = image, []
    for level in range(3):
        z, above, along = {}, {}, {}
        for r in range(R):
            for c in range(C):
                v = seen(stack.down[level], u, r, c) + given[2 * level]
                above[r, c] = gate(v)
                g = seen(stack.along[level], h, r, c) + stack.links[level].weight @ v + given[2 * level + 1]
                z[r, c] = gate(g)
                if level < 2:
                    own = stack.outs[level](z[r, c])
                    along[r, c] = own if level == 0 else h[r, c] + own
        u, h = above, along
        skips.append(z)
    for step in range(R * C):
        r, c = divmod(step, C)
        due = stack.head(stack.skips(torch.cat([z[r, c] for z in skips])).relu()).relu()
        torch.testing.assert_close(encoder(x, condition=condition)[0][0, step], due)


def test_residual_blocks_are_pixelcnns():
    encoder, x = build(condition=2, block="residual", kernel=5, layers=2), inputs(1)
    condition = torch.randn(1, 2, dtype=torch.float64)
    stack, image = encoder.stack, picture(x[0])
    given = stack.given(condition)[0].split([H, 3, 3])
    places = [(r, c) for r in range(R) for c in range(C)]
    h = {at: seen(stack.open, image, *at) + given[0] for at in places}
    for level, block in enumerate(stack.blocks):
        narrow = {at: block.narrow(h[at].relu()).relu() for at in places}
        inner = {at: (seen(block.sight, narrow, *at) + given[1 + level]).relu() for at in places}
        h = {at: h[at] + block.widen(inner[at]) for at in places}
    due = torch.stack([stack.head(stack.tail(h[at].relu()).relu()).relu() for at in places])
    torch.testing.assert_close(encoder(x, condition=condition)[0][0], due)


def field(encoder: Masked, step: int, steps: int) -> set[int]:
    """The steps that the output of one depends on, by gradient through many draws."""
    x = torch.randn(64, steps, D, dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad(encoder(x)[0][:, step].sum(), x)
    return set(grad.abs().sum((0, 2)).nonzero()[:, 0].tolist())


def test_gated_stacks_see_all_that_is_before():
    """Within their reach: rows above whole, in its own row what stands left."""
    encoder = build(layers=4, first=3)
    assert field(encoder, 14, R * C) == set(range(15))


@pytest.mark.parametrize(("block", "blind"), [("gated", False), ("residual", True)])
def test_a_blind_spot(block, blind):
    """11 columns, 7 rows: what stands above and far to the right of the middle of the last row, within the reach."""
    columns, rows, layers = 11, 7, 6
    encoder = build(block=block, columns=columns, layers=layers, first=3, size=16)
    r, c = rows - 1, columns // 2
    found = {divmod(step - 1, columns) for step in field(encoder, r * columns + c, rows * columns)}
    reach = layers + 1 if blind else layers
    due = {
        (y, x)
        for y in range(max(r - reach, -1), r + 1)
        for x in range(columns)
        if (x < c if y == r else abs(x - c) <= reach)
    }
    hidden = {(y, x) for y, x in due if x - c > r - y}  # right of the diagonal that leads up from the pixel
    assert hidden and (1, c + 5) in due and (r - 1, c + 5) in hidden
    first = {(-1, columns - 1)}  # <start>; of the row above the picture nothing else can be seen
    assert found - first == {at for at in due - (hidden if blind else set()) if at[0] >= 0}


@each_block
def test_red_before_green_before_blue(block):
    encoder = build(block=block, columns=2, channels=3, layers=2, first=3, size=16)
    for step in range(12):
        assert field(encoder, step, 12) - {0} == set(range(1, step + 1)), step


@each_block
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("layers", [1, 3])
@torch.no_grad()
def test_pixel_by_pixel_equals_all_at_once(block, channels, layers):
    """From a fresh state and from one that has read some pixels, each row its own number; rows may stand still."""
    encoder, x = build(block=block, channels=channels, layers=layers, condition=2), inputs(3, 40)
    condition = torch.randn(3, 2, dtype=torch.float64)
    whole = encoder(x, condition=condition)[0]
    for lengths in ([0, 0, 0], [4, 11, 0], [12, 5, 13]):
        read = torch.arange(max(lengths) or 1) < torch.tensor(lengths)[:, None]
        state = encoder(x[:, : read.shape[1]], read, begun(encoder, 3, 40), condition=condition)[1]
        done = list(lengths)
        for turn in range(20):
            mask = torch.tensor([True, turn % 3 != 1, turn % 2 == 0])
            now = torch.stack([x[row, at] for row, at in enumerate(done)])
            y, state = encoder(now[:, None], mask[:, None], state, condition=condition)
            for row in range(3):
                due = whole[row, done[row]] if mask[row] else torch.zeros(encoder.width, dtype=torch.float64)
                torch.testing.assert_close(y[row, 0], due)
                done[row] += int(mask[row])
        assert state["position"].tolist() == done


@each_block
@torch.no_grad()
def test_a_state_begun_with_room_goes_on_in_passes_too(block):
    encoder, x = build(block=block), inputs(2, 30)
    whole, state, at = encoder(x)[0], begun(encoder, 2, 30), 0
    for size in (1, 1, 5, 1, 1, 1, 9, 1, 3, 1):
        y, state = encoder(x[:, at : at + size], None, state)
        torch.testing.assert_close(y, whole[:, at : at + size])
        at += size


@each_block
@torch.no_grad()
def test_branches_go_their_own_ways(block):
    encoder, x = build(block=block), inputs(2, 12)
    state = encoder(x[:, :6], None, begun(encoder, 2, 12))[1]
    branched = reorder(state, torch.tensor([1, 1, 0]))
    for step in range(6, 12):
        after = x[torch.tensor([1, 0, 0]), step][:, None]
        y, branched = encoder(after, None, branched)
    due = encoder(torch.cat([x[torch.tensor([1, 1, 0]), :6], x[torch.tensor([1, 0, 0]), 6:]], 1))[0][:, -1:]
    torch.testing.assert_close(y, due)


@each_block
def test_of_a_condition_for_each_step_the_first_of_a_document_counts(block):
    encoder, x = build(block=block, condition=2), inputs()
    each = torch.randn(B, 2, 2, dtype=torch.float64)
    starts = torch.zeros(B, R * C, dtype=torch.bool)
    starts[:, 7] = True
    given = torch.cat([each[:, :1].expand(-1, 7, -1), each[:, 1:].expand(-1, R * C - 7, -1)], 1)
    y = encoder(x, starts=starts, condition=given)[0]
    torch.testing.assert_close(y[:, :7], encoder(x[:, :7], condition=each[:, 0])[0])
    torch.testing.assert_close(y[:, 7:], encoder(x[:, 7:], condition=each[:, 1])[0])


def test_nothing_of_a_pass_is_lost_where_it_is_empty():
    encoder, x = build(), inputs()
    state = encoder(x)[1]
    y, after = encoder(x[:, :0], None, state)
    assert y.shape == (B, 0, H)
    assert all(torch.equal(one, flatten_state(after)[name]) for name, one in flatten_state(state).items())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": 4}, r"encoder\.kernel=4 has no middle or sees nothing; allowed: 3, 5, 7"),
        ({"first": 1}, r"encoder\.first=1 has no middle or sees nothing"),
        ({"columns": None}, r"a text has no columns; set data\.kind=images, or encoder\.columns=32"),
    ],
)
def test_refusals(settings, message):
    with pytest.raises(UserError, match=message):
        build(**settings)


def test_it_is_saved_as_it_was_told():
    encoder = Masked(columns=None)
    encoder.columns = 28  # as the data tell it
    assert parts.describe(encoder)["columns"] is None


def test_float32_runs_in_bfloat16():
    encoder, x = build(size=16).float(), inputs().float()
    with torch.autocast("cpu", torch.bfloat16):
        y, state = encoder(x)
        again = encoder(x[:, :3], None, state)[0]
    torch.testing.assert_close(y.float(), encoder(x)[0], rtol=0.05, atol=0.05)
    assert again.isfinite().all() and F.relu(again).equal(again)
