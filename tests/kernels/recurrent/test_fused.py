"""Every cell on its fused path gives what the plain loop gives in float64: values and all gradients.

Tolerances, as the length of the difference over the length of the reference: 2e-6 in float32 (a step's sums are in
another order, and on a CPU exp and tanh are polynomials good to a few units in the last place), 5e-6 on a GPU, where
tanh is made of exp and loses digits near 0 (2.3e-6 found, of a normed LSTM); in bfloat16 2e-2, or half more than the
plain loop is off in bfloat16 itself (a normed LSTM by more than 1e-2 after nine steps).
"""

import pytest
import torch

from foresay import parts
from foresay.kernels.recurrent import engine
from foresay.kernels.recurrent.plain import run_plain
from tests.gpu import GPU, INTERPRETED, by_kernels

B, T, D, H = 3, 9, 19, 37  # T: enough for packed products; H: two vectors of sixteen and a tail of five
SETTINGS = {"lstm-projected": {"projection": 5}}
SCANS = {"mingru", "minlstm", "lru"}  # all steps at once, by a scan
LIBRARY = {"lstm", "elman", "gru-cudnn"}  # torch's own functions
DRAWING = {"zoneout", "dropped", "dropped-weights"}  # in training; the last two are idle otherwise
CELLS = [name for name in parts.names("cell") if name not in SCANS]


def make(name, *, inner="lstm"):
    torch.manual_seed(1)
    settings = {"kind": name, **SETTINGS.get(name, {})}
    if any(setting.name == "cell" for setting in parts.settings_of(parts.find("cell", name))):
        settings["cell"] = inner
    cell = parts.make("cell", settings)
    cell.build(D, H)
    with torch.no_grad():  # no zeros, or their gradients would be tested at one point alone
        for parameter in cell.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return cell


def results(cell, dtype, device, run, mask, *, autocast=False, only_y=False):
    """y, states after, and the gradients of a random sum of all of them, or of y alone."""
    torch.manual_seed(2)
    cell = cell.to(device, dtype)
    cell.zero_grad()
    x = torch.randn(B, T, D).to(device, dtype).requires_grad_()
    memory = {name: torch.rand_like(zero).to(device, dtype) / 2 for name, zero in cell.begin(torch.empty(B, 0)).items()}
    memory = {name: state.requires_grad_() for name, state in memory.items()}
    mask = None if mask is None else mask.to(device)
    torch.manual_seed(3)  # modifiers draw their noise
    with torch.autocast(device, torch.bfloat16, enabled=autocast):
        inputs = cell.inputs(x, memory, mask)
        kept, after = run(cell.maths, inputs, ("new:h",))
    outputs = [kept["new:h"], *(() if only_y else after.values())]
    generator = torch.Generator().manual_seed(4)
    sum((output * torch.randn(output.shape, generator=generator).to(output)).sum() for output in outputs).backward()
    grads = [tensor.grad for tensor in (x, *memory.values(), *cell.parameters())]
    return [output.detach() for output in outputs], grads


def distances(reference, found):
    """The length of each difference over the length of the reference; 0 where both are nothing."""
    for group, others in zip(reference, found, strict=True):
        for expected, value in zip(group, others, strict=True):
            if expected is None or not expected.any():
                assert value is None or not value.any()
                yield 0.0
                continue
            assert value is not None
            yield float((expected - value.double()).norm() / expected.norm())


def compare(reference, found, tolerance):
    assert max(distances(reference, found)) < tolerance


MASKS = {"whole": None, "padded": torch.arange(T) < torch.tensor([[T], [3], [1]])}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("name", CELLS)
def test_cpu_equals_plain(name, mask):
    from foresay.kernels.recurrent.loop import Loop

    cell = make(name)
    reference = results(cell, torch.float64, "cpu", run_plain, mask)
    found = results(cell, torch.float32, "cpu", lambda *given: engine.run_fused(Loop, *given), mask)
    compare(reference, found, 2e-6)


@by_kernels
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("name", CELLS)
def test_gpu_equals_plain(name, mask):
    from foresay.kernels.recurrent.fuse import fuse
    from foresay.kernels.recurrent.loop import Loop
    from foresay.kernels.recurrent.persistent import Whole
    from foresay.kernels.recurrent.spread import fits

    if INTERPRETED and name == "slstm":
        pytest.skip("log1p is the device's own")
    cell = make(name)
    reference = results(cell, torch.float64, GPU, run_plain, mask)
    found = results(cell, torch.float32, GPU, lambda *given: engine.run_fused(Loop, *given), mask)
    compare(reference, found, 5e-6)
    if INTERPRETED:
        return  # the persistent kernel's programs wait for each other
    only_y = name == "slstm"  # the gradient of its running maximum jumps where two numbers change their order
    reference = results(cell, torch.float64, GPU, run_plain, mask, only_y=only_y)
    roughly = distances(reference, results(cell, torch.float32, GPU, run_plain, mask, autocast=True, only_y=only_y))
    allowed = [max(2e-2, 1.5 * distance) for distance in roughly]
    for function in (Loop, Whole) if fits(fuse(cell.maths, training=cell.training)) else (Loop,):
        run = lambda *given, function=function: engine.run_fused(function, *given)  # noqa: E731
        found = results(cell, torch.float32, GPU, run, mask, autocast=True, only_y=only_y)
        off = [*distances(reference, found)]
        assert all(one < most for one, most in zip(off, allowed, strict=True)), (off, allowed)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_what_a_graph_prefers():
    """With 64 rows to a program many small kernels are faster than one, where it costs nothing to launch them."""
    from foresay.kernels.recurrent.loop import Loop
    from foresay.kernels.recurrent.persistent import Whole
    from foresay.kernels.switch import as_graph

    cell = parts.make("cell", {"kind": "lstm"})
    cell.build(64, 650)
    cell = cell.to("cuda", torch.bfloat16)
    for rows, expected in ((128, Loop), (20, Whole)):
        x = torch.randn(rows, 16, 64).to("cuda", torch.bfloat16)
        inputs = cell.inputs(x, cell.begin(x), None)
        assert engine.choose(cell.maths, inputs) is Whole
        with as_graph():
            assert engine.choose(cell.maths, inputs) is expected


@pytest.mark.parametrize("name", ["lstm", "gru", "peephole", "mogrifier", "lstm-projected", "shortcut"])
def test_rows_may_lie_apart(name, monkeypatch):
    """A GPU's matrix units want rows of eight numbers; the room between rows changes nothing."""
    from foresay.kernels.recurrent import loop

    cell = make(name)
    reference = results(cell, torch.float64, "cpu", run_plain, MASKS["padded"])
    monkeypatch.setattr(loop, "aligned", lambda fed: 8)
    found = results(cell, torch.float32, "cpu", lambda *given: engine.run_fused(loop.Loop, *given), MASKS["padded"])
    compare(reference, found, 2e-6)


@pytest.mark.parametrize(("both", "training"), [(False, True), (True, False)], ids=["one way, training", "both ways"])
@pytest.mark.parametrize("name", CELLS)
def test_encoder_fused_equals_plain(name, both, training, monkeypatch):
    """Two layers with padding, and one way with a carried state too; in training modifiers draw the same for both."""
    from foresay.encode.recurrent import Recurrent

    torch.manual_seed(1)
    cell = {"kind": name, **SETTINGS.get(name, {})}
    encoder = Recurrent(cell=parts.make("cell", cell), size=34, layers=2, bidirectional=both).train(training)
    encoder.build(D)
    x, mask = torch.randn(B, T, D), MASKS["padded"]
    found, ran, whole = [], [], engine.run_fused
    monkeypatch.setattr(engine, "WORTH", 0)
    monkeypatch.setattr(engine, "run_fused", lambda *given: (ran.append(name), whole(*given))[1])
    for plain in ("1", "0"):
        monkeypatch.setenv("FORESAY_PLAIN", plain)
        assert not ran
        dtype = torch.float64 if plain == "1" else torch.float32
        encoder = encoder.to(dtype)
        encoder.zero_grad()
        given = x.to(dtype).requires_grad_()
        torch.manual_seed(2)
        y, state = encoder(given, mask)
        if not both:
            y = torch.cat([y, encoder(given, None, state)[0]], 1)
        (y * torch.linspace(-1, 1, y.numel()).view_as(y)).sum().backward()
        found.append(([y.detach()], [given.grad, *(p.grad for p in encoder.parameters())]))
    compare(*found, 5e-6)
    idle = name in DRAWING - {"zoneout"} and not training
    library = name == "lstm" or (name in LIBRARY and engine.library() is None)
    assert len(ran) == (0 if library or idle else 4)
    if name in DRAWING:
        again = encoder(given, mask)[0]
        assert torch.equal(again, encoder(given, mask)[0]) != training
