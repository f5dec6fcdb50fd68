"""Real processes at the price of a fork: a server that has imported everything forks one for each call.

    forks = Forks()
    process = forks.start(["foresay", "train", ...], hook=("tests.train.killing", "die_at_step", 12))
    process.signal(signal.SIGINT); process.wait() == 130; process.read_error()

The process runs `foresay.cli.main` with its own standard streams, folder and environment; `hook` is called first.
Importing torch takes seconds, a fork milliseconds.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

REQUEST = 2**16  # bytes, at most


class Process:
    """A running command: its streams, its exit code."""

    def __init__(self, stdin: int, stdout: int, stderr: int, status: int):
        self.stdin, self.stdout = os.fdopen(stdin, "wb", 0), os.fdopen(stdout, "rb", 0)
        self.stderr, self.status = os.fdopen(stderr, "rb", 0), os.fdopen(status, "rb", 0)
        self.pid = int(self.status.readline())

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def line(self, seconds: float = 60.0) -> str:
        """The next line of standard output; fails when none comes."""
        assert select.select([self.stdout], [], [], seconds)[0], "no line came"
        return self.stdout.readline().decode()

    def wait_for(self, text: str) -> None:
        """Reads standard error up to a line with `text`."""
        seen = []
        while line := self.stderr.readline().decode():
            seen.append(line)
            if text in line:
                return
        raise AssertionError(f"{text!r} never came, but: {''.join(seen)}")

    def wait(self) -> int:
        """The exit code, as subprocess gives it: negative for a signal. The streams are closed."""
        code = int(self.status.readline())
        for stream in (self.stdin, self.stdout, self.stderr, self.status):
            stream.close()
        return code

    def finish(self, given: bytes = b"") -> tuple[int, str, str]:
        """Sends all input and waits: exit code, standard output, standard error."""
        self.stdin.write(given)
        self.stdin.close()
        read = {self.stdout: b"", self.stderr: b""}
        waiting = list(read)
        while waiting:
            for stream in select.select(waiting, [], [])[0]:
                more = stream.read(2**16)
                read[stream] += more
                if not more:
                    waiting.remove(stream)
        return self.wait(), read[self.stdout].decode(), read[self.stderr].decode()


class Forks:
    """The server and the way to ask it."""

    def __init__(self) -> None:
        self.socket, theirs = socket.socketpair()
        warnings = ["-W", "error", "-W", "ignore:This process:DeprecationWarning"]  # it has threads: none of them works
        command = [sys.executable, *warnings, "-c", f"from tests.forks import serve; serve({theirs.fileno()})"]
        root = Path(__file__).parent.parent
        env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}  # as a user has it
        env["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"  # looking for a GPU must not keep the forks from using it
        env["TORCH_CPP_LOG_LEVEL"] = "ERROR"  # as foresay asks for it among several processes
        self.server = subprocess.Popen(command, cwd=root, env=env, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()

    def start(self, words: Sequence[Any], *, hook: Sequence[Any] = (), env: dict[str, str] | None = None) -> Process:
        """Runs the command line with these words, in the present folder and environment."""
        read, write = zip(*(os.pipe() for _ in range(4)), strict=True)  # stdin, stdout, stderr, status
        request = {
            "words": [*map(str, words)],
            "hook": [*hook],
            "cwd": str(Path.cwd()),
            "env": os.environ | (env or {}),
        }
        socket.send_fds(self.socket, [json.dumps(request).encode()], [read[0], *write[1:]])
        for fd in (read[0], *write[1:]):
            os.close(fd)
        return Process(write[0], *read[1:])

    def run(self, *words: Any, hook: Sequence[Any] = (), given: bytes = b"") -> tuple[int, str, str]:
        """Exit code, standard output and standard error of a command."""
        return self.start(words, hook=hook).finish(given)

    def close(self) -> None:
        self.socket.close()
        self.server.wait()


def serve(descriptor: int) -> None:
    """Forks for every request until the other end is closed."""
    _import_everything()
    asked = socket.socket(fileno=descriptor)
    while True:
        request, fds, _, _ = socket.recv_fds(asked, REQUEST, 4)
        if not request:
            asked.close()
            return
        if os.fork() == 0:
            asked.close()
            _watch(json.loads(request), fds)
        for fd in fds:
            os.close(fd)
        _reap()


def _import_everything() -> None:
    import torch._dynamo  # torch's optimisers ask for it

    for name in ("foresay.cli", "foresay.start", "foresay.study.catalogue", "foresay.study.compare"):
        importlib.import_module(name)
    from foresay import recipe
    from foresay.train.report import draw_curves

    recipe.complete(recipe.read("lstm"))
    with tempfile.TemporaryDirectory() as folder:
        draw_curves(Path(folder) / "a.png", {"a": [(0.0, 1.0)]}, "", "")  # finds the fonts
    torch.set_num_threads(1)


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _watch(request: dict[str, Any], fds: list[int]) -> None:
    """Tells the other end which process runs the command and how it ended."""
    status = fds[3]
    child = os.fork()
    if child == 0:
        os.close(status)
        _work(request, fds[:3])
    for fd in fds[:3]:
        os.close(fd)
    os.write(status, f"{child}\n".encode())
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(status, f"{code}\n".encode())
    os._exit(0)


def _work(request: dict[str, Any], fds: list[int]) -> None:
    from foresay.cli import main

    for standard, fd in enumerate(fds):
        os.dup2(fd, standard)
        os.close(fd)
    os.chdir(request["cwd"])
    os.environ.update(request["env"])
    sys.argv = request["words"]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code: Any = 1
    try:
        if request["hook"]:
            module, name, *given = request["hook"]
            getattr(importlib.import_module(module), name)(*given)
        main()
    except SystemExit as error:
        code = error.code or 0
    except BaseException:
        sys.excepthook(*sys.exc_info())  # pyright: ignore[reportArgumentType]
    sys.stdout.flush()
    os._exit(code)
