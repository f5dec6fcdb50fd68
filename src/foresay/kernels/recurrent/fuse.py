"""What the fused kernels of a step read, compute and write: the same for every backend.

Forwards, phase p reads gates, states before the step, vectors and noise, and writes the operands of later products and
the states after the step. Backwards, phase p reads the same and the gradients of what it gave, and writes the gradients
of its gates; what it adds to the gradients of states, earlier values and vectors it adds in place.

Arrays by name, time first:

    fed, unfed           (T, B, columns)   gates, their products added        dfed, dunfed     their gradients
    state:h              (P + T, B, width) P states before the first step     dstate:h         the same of gradients
    operand:value:rh     (T, B, width)     what a step multiplies itself      back:value:rh    (B, width) in one step
    vector:p             (width,) or (B, width)                               dvector:p        (B, width) over all steps
    noise:z, x:x         (T, B, width)                                        dx:x             (T, B, width)
    mask                 (T, B)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from foresay.kernels.recurrent.maths import Maths, delay
from foresay.kernels.recurrent.operations import Operation, Operations, Value
from foresay.kernels.recurrent.phases import Phases, cut
from foresay.kernels.recurrent.tracing import trace, trace_derivative


@dataclass(frozen=True)
class Access:
    """Elements (b, column + j) of an array at step t + shift, or of an array without steps."""

    array: str
    column: int = 0
    shift: int = 0
    steps: bool = True


@dataclass(frozen=True)
class Store:
    """Writes, or adds in place, a value."""

    to: Access
    value: Value
    adds: bool = False


@dataclass(frozen=True)
class Part:
    """The share of a kernel that is `width` wide: one pass over the elements of each row."""

    width: int
    loads: Mapping[str, Access]  # input's name -> where it lies
    operations: tuple[Operation, ...]
    stores: tuple[Store, ...]
    padding: tuple[Store, ...]  # what a padded row writes instead; a value is then the name of a load, or a number
    padding_loads: Mapping[str, Access]


@dataclass(frozen=True)
class Kernel:
    name: str
    parts: tuple[Part, ...]
    derived: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)  # what backends made of it

    @property
    def arrays(self) -> tuple[str, ...]:
        """Every array it touches, each once, in a fixed order."""
        names = [access.array for part in self.parts for access in (*part.loads.values(), *part.padding_loads.values())]
        names += [store.to.array for part in self.parts for store in (*part.stores, *part.padding)]
        return tuple(dict.fromkeys(names))

    @property
    def reduces(self) -> bool:
        """Whether it sums along rows."""
        return any(step.kind.startswith("row_") for part in self.parts for step in part.operations)


@dataclass(frozen=True)
class Run:
    """Neighbouring gates in one array that see one source: one product. Columns [begin, end) of `array`."""

    array: str
    begin: int
    end: int
    rows: tuple[int, int]  # the rows of the source's weight


@dataclass(frozen=True, eq=False)
class Fused:
    """A whole step: products and kernels in order, forwards and backwards."""

    phases: Phases
    forwards: tuple[Kernel, ...]
    backwards: tuple[Kernel, ...]  # by phase, so the last runs first
    runs: Mapping[str, tuple[Run, ...]]  # source -> its products
    before: int  # P: how many states before the first step are read
    columns: Mapping[str, int]  # how wide fed and unfed are
    derived: dict[Any, Any] = field(default_factory=dict, repr=False)  # what backends have worked out

    @property
    def maths(self) -> Maths:
        return self.phases.maths

    @property
    def collected(self) -> tuple[str, ...]:
        """The values whose gradient is collected within a step: `back:...`."""
        later = {key for phase in self.phases.phases for key in phase.reads} | set(self.phases.operands)
        return tuple(key for phase in self.phases.phases for key in phase.gives if key in later)

    def width(self, key: str) -> int:
        return _width(self.maths, key)


def fuse(maths: Maths, *, training: bool) -> Fused:
    """The kernels of a cell's step, worked out once for training and once for use, as its code may differ.

    NotPointwise where an operation has no pointwise form.
    """
    if ("fused", training) not in maths.derived:
        maths.derived["fused", training] = _fuse(maths)
    return maths.derived["fused", training]


def _fuse(maths: Maths) -> Fused:
    phases = cut(maths)
    places, columns = _places(maths)
    before = max([1, *(delay(source) for source in phases.seen)])
    layout = _Layout(phases, places, before, recalls=not of_one_width(maths))
    forwards = tuple(_forwards(layout, index) for index in range(len(phases.phases)))
    backwards = tuple(_backwards(layout, index) for index in range(len(phases.phases)))
    runs = {source: _runs(maths, places, gates) for source, gates in phases.seen.items()}
    return Fused(phases, forwards, backwards, runs, before, columns)


def of_one_width(maths: Maths) -> bool:
    """Whether everything but x, which then is not read, has the width of h."""
    size = maths.widths["state:h"]
    return not maths.read("x") and all(w == size for key, w in maths.widths.items() if not key.startswith("x:"))


@dataclass(frozen=True)
class _Layout:
    phases: Phases
    places: Mapping[str, tuple[str, int]]  # gate -> array, column
    before: int
    recalls: bool  # operands of earlier phases are read back; a kernel that runs all phases has them anyway

    def load(self, key: str) -> Access:
        """Where an input of a phase lies."""
        if key.startswith("operand:"):
            return Access(key)
        kind, name = key.split(":")
        if kind == "gate":
            array, column = self.places[name]
            return Access(array, column)
        if kind == "state":
            return Access(key, shift=self.before - 1)
        return Access(key, steps=kind != "vector")

    def gradient(self, key: str) -> Store:
        """Where the gradient of an input of a phase goes; the value is filled in."""
        kind, name = key.split(":")
        if kind == "gate":
            array, column = self.places[name]
            return Store(Access(f"d{array}", column), 0.0)
        if kind == "state":
            return Store(Access(f"d{key}", shift=self.before - 1), 0.0, adds=True)
        if kind == "x":
            return Store(Access(f"d{key}"), 0.0, adds=True)
        array = f"dvector:{name}" if kind == "vector" else f"back:{key}"
        return Store(Access(array, steps=False), 0.0, adds=True)


def _places(maths: Maths) -> tuple[dict[str, tuple[str, int]], dict[str, int]]:
    places, columns = {}, {"fed": 0, "unfed": 0}
    for gate in (*maths.fed, *(gate for gate in maths.gates if gate not in maths.fed)):
        array = "fed" if gate in maths.fed else "unfed"
        places[gate] = (array, columns[array])
        columns[array] += maths.widths[f"gate:{gate}"]
    return places, columns


def _runs(maths: Maths, places: Mapping[str, tuple[str, int]], gates: tuple[str, ...]) -> tuple[Run, ...]:
    runs: list[Run] = []
    row = 0
    for gate in gates:
        array, column = places[gate]
        width = maths.widths[f"gate:{gate}"]
        if runs and runs[-1].array == array and runs[-1].end == column:
            last = runs.pop()
            runs.append(Run(array, last.begin, column + width, (last.rows[0], row + width)))
        else:
            runs.append(Run(array, column, column + width, (row, row + width)))
        row += width
    return tuple(runs)


def _replay(layout: _Layout, operations: Operations, index: int, now: int) -> dict[str, Value]:
    """The values of all phases up to `index`, computed from gates, states, vectors and noise.

    Operands were written down, and where they are read back nothing before them is computed again.
    """
    values: dict[str, Value] = {}
    for phase in layout.phases.phases[: index + 1]:
        inputs = [values.get(key, key) for key in phase.reads]
        widths = [_width(layout.phases.maths, key) for key in phase.reads]
        values |= dict(zip(phase.gives, trace(operations, phase.run, inputs, widths), strict=True))
        if layout.recalls and phase is not layout.phases.phases[now]:
            values |= {key: f"operand:{key}" for key in phase.gives if key in layout.phases.operands}
    return values


def _width(maths: Maths, key: str) -> int:
    return maths.width(key.split("#")[0])


def _forwards(layout: _Layout, index: int) -> Kernel:
    phases, phase = layout.phases, layout.phases.phases[index]
    operations = Operations()
    values = _replay(layout, operations, index, index)
    stores, padding, padded = [], [], {}
    for key in phase.gives:
        if key in phases.operands:
            stores.append((key, Store(Access(f"operand:{key}"), values[key])))
            padding.append((key, Store(Access(f"operand:{key}"), 0.0)))
    for state, key in phases.final.items():
        if key in phase.gives:
            after = Access(f"state:{state}", shift=layout.before)
            stores.append((key, Store(after, values[key])))
            padding.append((key, Store(after, f"state:{state}")))
            padded[f"state:{state}"] = layout.load(f"state:{state}")
    return _kernel(layout, f"forwards_{index}", operations, stores, padding, padded, {})


def _backwards(layout: _Layout, index: int) -> Kernel:
    phases, phase = layout.phases, layout.phases.phases[index]
    operations = Operations()
    values = _replay(layout, operations, index - 1, index)
    loads, grads, padding, padded = {}, [], [], {}
    later = {key for after in phases.phases[index + 1 :] for key in after.reads} | set(phases.operands)
    finals = {key: state for state, key in phases.final.items()}
    for key in phase.gives:
        grad: Value = 0.0
        if key in finals:
            name = f"after:{finals[key]}"
            loads[name] = Access(f"dstate:{finals[key]}", shift=layout.before)
            grad = operations.add("add", grad, name)
            padded[name] = loads[name]
            to = Access(f"dstate:{finals[key]}", shift=layout.before - 1)
            padding.append((key, Store(to, name, adds=True)))
        if key in later:
            loads[f"back:{key}"] = Access(f"back:{key}", steps=False)
            grad = operations.add("add", grad, f"back:{key}")
        grads.append(grad)
    widths = [_width(phases.maths, key) for key in phase.reads]
    inputs = [values.get(key, key) for key in phase.reads]
    pulled = trace_derivative(operations, phase.run, inputs, widths, grads)
    # what was collected for a value is used up here, and collecting begins anew for the step before
    used = [key for key in phase.gives if key in later]
    stores = [(key, Store(Access(f"back:{key}", steps=False), 0.0)) for key in used]
    for key, value in zip(phase.reads, pulled, strict=True):
        kind = key.split(":")[0]
        if kind == "noise" or (value in (None, 0.0) and kind != "gate"):
            continue
        place = layout.gradient(key)
        stores.append((key, Store(place.to, 0.0 if value is None else value, place.adds)))
        if kind == "gate":
            padding.append((key, Store(place.to, 0.0)))
    return _kernel(layout, f"backwards_{index}", operations, stores, padding, padded, loads)


def _kernel(
    layout: _Layout,
    name: str,
    operations: Operations,
    stores: list[tuple[str, Store]],
    padding: list[tuple[str, Store]],
    padded: Mapping[str, Access],
    loads: Mapping[str, Access],
) -> Kernel:
    """Groups what is written by its width; each group loads and computes what it needs."""
    maths = layout.phases.maths
    parts = []
    for width in dict.fromkeys(_width(maths, key) for key, _ in stores):
        own = tuple(store for key, store in stores if _width(maths, key) == width)
        idle = tuple(store for key, store in padding if _width(maths, key) == width)
        values = [store.value for store in own]
        inputs = sorted(operations.inputs(values))
        idle_loads = {store.value: padded[store.value] for store in idle if isinstance(store.value, str)}
        own_loads = {key: loads[key] if key in loads else layout.load(key) for key in inputs}
        parts.append(Part(width, own_loads, tuple(operations.needed(values)), own, idle, idle_loads))
    return Kernel(name, tuple(parts))


def products_after(fused: Fused) -> list[list[str]]:
    """For each phase, the sources whose gradient can be made once it is through: it completes their first gate."""
    after: list[list[str]] = [[] for _ in fused.phases.phases]
    for source, gates in fused.phases.seen.items():
        after[min(i for i, phase in enumerate(fused.phases.phases) if set(gates) & set(phase.gates))].append(source)
    return after
