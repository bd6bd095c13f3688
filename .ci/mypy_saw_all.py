"""Run mypy over the project and prove that it saw every file. A type checker that loses a package
(envs, wrappers and training are reached over links) reports success all the same, so the modules in
mypy's own report are compared with the files on disk."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACES = {
    "envs": "tradesbench_gym.envs",
    "wrappers": "tradesbench_gym.wrappers",
    "training": "tradesbench_gym.training",
    "tradesbench_gym": "tradesbench_gym",
    "tests": "tests",
}


def expected_modules() -> Iterator[str]:
    """The module name of every Python file of the project, links not followed."""
    yield "conftest"
    for folder, package in PLACES.items():
        for path in (ROOT / folder).rglob("*.py"):
            within = path.relative_to(ROOT / folder).with_suffix("").parts
            names = within[:-1] if within[-1] == "__init__" else within
            yield ".".join((package, *names))


def reported_modules(report: Path) -> Iterator[str]:
    """The modules of mypy's line count report: four counts, then the name."""
    for line in (report / "linecount.txt").read_text(encoding="utf-8").splitlines():
        yield line.split()[-1]


def main() -> int:
    """Exit with mypy's status, or 1 when it left a file out."""
    with tempfile.TemporaryDirectory() as folder:
        # Without a cache: mypy reports only the modules it reads itself.
        command = [sys.executable, "-m", "mypy", "--cache-dir", folder + "/cache"]
        command += ["--linecount-report", folder]
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        if not (Path(folder) / "linecount.txt").exists():
            return status or 1
        seen = set(reported_modules(Path(folder)))
    expected = set(expected_modules())
    if missing := sorted(expected - seen):
        print("mypy did not see: " + ", ".join(missing))
        return 1
    print(f"mypy saw all {len(expected)} modules")
    return status


if __name__ == "__main__":
    sys.exit(main())
