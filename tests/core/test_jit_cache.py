"""Compiled code is kept between starts, never stale, never from a folder of somebody else.

Each test but the last few drives a copy of the machinery in a package of its own: the two modules
of `core`, one kernel that calls an imported helper with an imported constant, and a fresh process
for every start, since staleness only shows in the next process.
"""

import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tradesbench_gym
from tradesbench_gym import cachedir
from tradesbench_gym.core import codecache
from tradesbench_gym.core.jit import kernel

HELPER = """
from tradesbench_gym.core.jit import kernel
STEP = {step}
@kernel
def helped(value):
    return value * {factor}
"""
RULE = """
from tradesbench_gym.core.jit import kernel
from tradesbench_gym.core.helper import STEP, helped
@kernel
def rule(value):
    return helped(value) + STEP
"""
START = """
from tradesbench_gym.core.rule import rule
print(rule(10), sum(rule.stats.cache_misses.values()), rule.stats.cache_path)
"""
MACHINERY = ("__init__.py", "errors.py", "cachedir.py", "core/jit.py", "core/codecache.py")

posix = pytest.mark.skipif(os.name == "nt", reason="owner and mode are POSIX")


class TinyCore:
    """A package with one rule, and a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "install" / "tradesbench_gym"
        self.cache = folder / "cache"
        (self.package / "core").mkdir(parents=True)
        (self.package / "core" / "__init__.py").touch()
        for name in MACHINERY:
            shutil.copyfile(Path(tradesbench_gym.__file__).parent / name, self.package / name)
        # The package itself registers environments, which are not here.
        (self.package / "__init__.py").write_text("")
        (self.package / "core" / "rule.py").write_text(RULE)
        self.write_helper()

    def write_helper(self, *, step: int = 1, factor: int = 2) -> None:
        (self.package / "core" / "helper.py").write_text(HELPER.format(step=step, factor=factor))

    def begin(self, code: str = START, /, **settings: str | None) -> subprocess.Popen[str]:
        inherited = {name: value for name, value in os.environ.items() if "NUMBA" not in name}
        inherited.pop(codecache.QUIET, None)
        asked = {
            **inherited,
            "PYTHONPATH": str(self.package.parent),
            cachedir.OVERRIDE: str(self.cache),
            "PYTHONDONTWRITEBYTECODE": "1",
            **settings,
        }
        return subprocess.Popen(
            [sys.executable, "-c", code],
            env={name: value for name, value in asked.items() if value is not None},
            cwd=self.package.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def start(self, code: str = START, /, **settings: str | None) -> tuple[int, int, str]:
        """The rule's answer for 10, how many times it was compiled, and what stderr said."""
        return self.answer(self.begin(code, **settings))

    @staticmethod
    def answer(process: subprocess.Popen[str]) -> tuple[int, int, str]:
        output, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
        value, compiled, _ = output.split(maxsplit=2)
        return int(value), int(compiled), said

    def kept(self) -> list[Path]:
        return sorted(self.cache.glob("compiled/*/*.code"))


@pytest.fixture
def tiny(tmp_path: Path) -> TinyCore:
    return TinyCore(tmp_path)


def test_the_second_start_compiles_nothing_and_says_nothing(tiny: TinyCore) -> None:
    value, compiled, said = tiny.start()
    assert (value, compiled) == (21, 1)
    assert said.count("compiling the rules for this machine (once") == 1
    assert tiny.start() == (21, 0, "")


def test_a_changed_helper_is_never_served_stale(tiny: TinyCore) -> None:
    assert tiny.start()[0] == 21
    tiny.write_helper(factor=3)
    assert tiny.start()[:2] == (31, 1)


def test_a_changed_constant_in_an_imported_module_is_never_served_stale(tiny: TinyCore) -> None:
    assert tiny.start()[0] == 21
    tiny.write_helper(step=5)
    assert tiny.start()[:2] == (25, 1)
    tiny.write_helper(step=1)
    assert tiny.start() == (21, 0, "")


def test_sources_that_change_under_a_running_process_are_not_kept(tiny: TinyCore) -> None:
    edit = (
        "import pathlib; import tradesbench_gym.core.rule as r; "
        "p = pathlib.Path(r.__file__).with_name('helper.py');"
        "p.write_text(p.read_text().replace('STEP = 1', 'STEP = 7'))\n"
    )
    assert tiny.start(edit + START)[0] == 21
    assert tiny.kept() == []
    assert tiny.start()[0] == 27


def test_other_settings_of_numba_find_other_code(tiny: TinyCore) -> None:
    assert tiny.start()[1] == 1
    assert tiny.start(NUMBA_BOUNDSCHECK="1")[1] == 1
    assert tiny.start(NUMBA_NUM_THREADS="1")[1] == 0


def test_jit_off_gives_plain_functions_and_no_cache(tiny: TinyCore) -> None:
    code = (
        "import types; from tradesbench_gym.core import jit; "
        "from tradesbench_gym.core.rule import rule\n"
        "assert type(rule) is types.FunctionType and not jit.warm_needed(); jit.announce()\n"
        "print(rule(10), 0, None)"
    )
    assert tiny.start(code, NUMBA_DISABLE_JIT="1") == (21, 0, "")
    assert not tiny.cache.exists()


def test_announcing_speaks_once_and_only_when_something_will_compile(tiny: TinyCore) -> None:
    code = (
        "from tradesbench_gym.core import jit\n"
        "needed = jit.warm_needed(); jit.announce(); jit.announce()\n"
        "from tradesbench_gym.core.rule import rule\n"
        "print(rule(10), int(needed), None)"
    )
    value, needed, said = tiny.start(code)
    assert (value, needed) == (21, 1)
    assert len(said.splitlines()) == 1
    assert tiny.start(code) == (21, 0, "")


def test_quiet_is_quiet(tiny: TinyCore) -> None:
    assert tiny.start(**{codecache.QUIET: "1"}) == (21, 1, "")


def test_eight_workers_on_a_cold_cache_compile_once_and_agree(tiny: TinyCore) -> None:
    workers = [tiny.begin() for _ in range(8)]
    answers = [tiny.answer(worker) for worker in workers]
    assert [value for value, _, _ in answers] == [21] * 8
    if os.name != "nt":
        assert sum(compiled for _, compiled, _ in answers) == 1
        assert sum("compiling" in said for _, _, said in answers) == 1
    names = {path.name for path in tiny.kept()[0].parent.iterdir()}
    assert names == {path.name for path in tiny.kept()} | {"lock"}
    assert tiny.start() == (21, 0, "")


def test_two_record_types_compiled_by_two_processes_stay_apart_in_a_third(tiny: TinyCore) -> None:
    """A record of n fields before `last`: reading the other type's offset gives another number."""
    (tiny.package / "core" / "rule.py").write_text(
        "from tradesbench_gym.core.jit import kernel\n"
        "@kernel\n"
        "def rule(runs, i):\n"
        "    total = 0\n"
        "    for k in range(i + 1):\n"
        "        total += runs['last'][k]\n"
        "    return total\n"
    )
    code = (
        "import numpy as np; from tradesbench_gym.core.rule import rule\n"
        "total = 0\n"
        "for n in {sizes}:\n"
        "    runs = np.zeros(1, [(f'f{{k}}', 'i8') for k in range(n)] + [('last', 'i8')])\n"
        "    runs['last'] = n\n"
        "    total = 100 * total + rule(runs, 0)\n"
        "names = {{form.fndesc.mangled_name for form in rule.overloads.values()}}\n"
        "assert len(names) == len({sizes}), names\n"
        "print(total, sum(rule.stats.cache_misses.values()), None)"
    )
    assert tiny.start(code.format(sizes=[3]))[:2] == (3, 1)
    assert tiny.start(code.format(sizes=[5]))[:2] == (5, 1)
    assert tiny.start(code.format(sizes=[3, 5])) == (305, 0, "")
    assert tiny.start(code.format(sizes=[5, 3])) == (503, 0, "")


@pytest.mark.parametrize(
    "harm",
    [
        lambda kept: [path.write_bytes(path.read_bytes()[:-9]) for path in kept],
        lambda kept: [path.write_bytes(b"") for path in kept],
        lambda kept: [path.write_bytes(kept[0].read_bytes()) for path in kept[1:]],
    ],
    ids=["torn", "empty", "of another function"],
)
def test_a_damaged_file_is_compiled_again(
    tiny: TinyCore, harm: Callable[[list[Path]], object]
) -> None:
    tiny.start()
    assert len(tiny.kept()) == 2
    harm(tiny.kept())
    assert tiny.start()[:2] == (21, 1)
    assert tiny.start()[:2] == (21, 0)


def test_read_only_without_home_compiles_unkept_and_says_so_in_one_line(tiny: TinyCore) -> None:
    # A file where a folder would have to be: refused to everybody, root included.
    blocked = tiny.package.parent / "blocked"
    blocked.touch()
    nowhere = {cachedir.OVERRIDE: None, "HOME": None, "XDG_CACHE_HOME": str(blocked / "cache")}
    value, compiled, said = tiny.start(**nowhere)
    assert (value, compiled) == (21, 1)
    assert said.count("compiled code is not kept: cannot use") == 1
    assert said.count("compiling the rules for this machine (at every start") == 1
    assert len(said.splitlines()) == 2


def test_a_user_without_any_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (cachedir.OVERRIDE, "HOME", "USERPROFILE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(cachedir.CacheUnavailableError, match="no home folder"):
        cachedir.cache_root()


@posix
def test_folders_and_files_are_for_their_owner_alone(tiny: TinyCore) -> None:
    tiny.start()
    kept = tiny.kept()[0]
    for folder in (tiny.cache, tiny.cache / "compiled", kept.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@posix
@pytest.mark.parametrize("level", [0, 1, 2], ids=["root", "compiled", "digest"])
def test_a_folder_that_others_can_write_is_refused(tiny: TinyCore, level: int) -> None:
    tiny.start()
    folder = (tiny.cache, tiny.cache / "compiled", tiny.kept()[0].parent)[level]
    folder.chmod(0o777)
    value, compiled, said = tiny.start()
    assert (value, compiled) == (21, 1)
    assert "compiled code is not kept" in said
    assert "can be written by other users" in said


@posix
def test_a_file_that_others_can_write_is_not_read(tiny: TinyCore) -> None:
    tiny.start()
    for path in tiny.kept():
        path.chmod(0o666)
    value, compiled, said = tiny.start()
    assert (value, compiled) == (21, 1)
    assert "not reading compiled code" in said


@posix
def test_a_folder_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cachedir.OVERRIDE, str(tmp_path / "cache"))
    cachedir.private_folder("compiled")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(cachedir.CacheUnavailableError, match="belongs to another user"):
        cachedir.private_folder("compiled")


def test_the_folders_of_old_sources_go_but_never_a_recent_one(tmp_path: Path) -> None:
    current = tmp_path / ("c" * 32)
    ages_days = {"a" * 32: 0.5, "b" * 32: 2, "c" * 32: 0, "d" * 32: 3, "e" * 32: 9, "notes": 9}
    for name, days in ages_days.items():
        (tmp_path / name).mkdir()
        used = time.time() - days * 86400
        os.utime(tmp_path / name, (used, used))
    codecache._prune(current)
    assert {path.name[0] for path in tmp_path.iterdir()} == set("abcn")


def test_the_users_own_numba_functions_keep_their_own_cache(tiny: TinyCore) -> None:
    mine = tiny.package.parent / "mine.py"
    mine.write_text("import numba\n@numba.njit(cache=True)\ndef f(x):\n    return x + 1\n")
    code = (
        "import numba; from tradesbench_gym.core.rule import rule; import mine\n"
        "assert rule(10) == 21 and mine.f(1) == 2 and not numba.config.CACHE_DIR\n"
        "print(21, 0, mine.f.stats.cache_path)"
    )
    tiny.start(code)
    assert list((mine.parent / "__pycache__").glob("mine.f-*.nbi"))
    assert not [path for path in tiny.kept() if "mine" in path.name]


def test_functions_outside_the_rules_are_compiled_but_not_kept() -> None:
    assert not codecache.covers(test_functions_outside_the_rules_are_compiled_but_not_kept)


def test_a_closure_is_no_kernel() -> None:
    outer = 3

    def inner() -> int:
        return outer

    with pytest.raises(TypeError, match="must not be a closure"):
        kernel(inner)


@pytest.mark.parametrize("by", [2, -2, 0])
@pytest.mark.parametrize("value", [7, -7, 0])
def test_integer_division_is_numpys_with_and_without_jit(value: int, by: int) -> None:
    with np.errstate(divide="ignore"):
        expected = np.int64(value) // np.int64(by), np.int64(value) % np.int64(by)
        assert _divided(np.int64(value), np.int64(by)) == expected


@kernel
def _divided(value: np.int64, by: np.int64) -> tuple[np.int64, np.int64]:
    return value // by, value % by
