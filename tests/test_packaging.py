"""What is installed is what stands in the tree: every package by its one name, and nothing else."""

import configparser
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
AT_THE_TOP = ("envs", "training", "wrappers")


@pytest.fixture(scope="module")
def options() -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def packages_below(folder: Path, name: str) -> set[str]:
    """The packages in a folder that is a package called `name`, links not followed."""
    found = set()
    for parent, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if not (Path(parent) / f).is_symlink()]
        if "__init__.py" in files:
            found.add(".".join((name, *Path(parent).relative_to(folder).parts)))
    return found


def files_of_the_project(folder: str) -> list[Path]:
    """The files below a folder that are, or may be, committed; links not followed."""
    return [
        path
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
        and not {"__pycache__"} & {p.name for p in path.parents}
        # The links of the package are folders at the top, looked at by their own names.
        and not any(p.is_symlink() for p in path.parents)
    ]


def test_setup_cfg_lists_every_package_of_the_tree(options: configparser.ConfigParser) -> None:
    tree = packages_below(ROOT / "tradesbench_gym", "tradesbench_gym")
    for folder in AT_THE_TOP:
        tree |= packages_below(ROOT / folder, f"tradesbench_gym.{folder}")
    assert set(options["options"]["packages"].split()) == tree


def test_every_data_file_of_a_package_is_installed(options: configparser.ConfigParser) -> None:
    patterns = options["options.package_data"]["*"].split()
    for folder in ("tradesbench_gym", *AT_THE_TOP):
        for path in files_of_the_project(folder):
            package = next(p for p in path.parents if (p / "__init__.py").exists())
            place = path.relative_to(package)
            # A match must be as deep as the pattern: setuptools' * does not cross folders.
            assert path.suffix == ".py" or any(
                place.match(pattern) and len(place.parts) == len(Path(pattern).parts)
                for pattern in patterns
            ), f"setup.cfg does not install {path}"


def test_every_python_file_of_the_package_lies_in_a_package() -> None:
    for folder in ("tradesbench_gym", *AT_THE_TOP):
        for path in (ROOT / folder).rglob("*.py"):
            assert (path.parent / "__init__.py").exists(), f"{path} has no __init__.py beside it"


@pytest.mark.parametrize("folder", AT_THE_TOP)
def test_the_folders_at_the_top_are_linked_into_the_package(folder: str) -> None:
    link = ROOT / "tradesbench_gym" / folder
    # On Windows without symbolic links, git leaves a file that holds the link's text.
    target = str(link.readlink()) if link.is_symlink() else link.read_text(encoding="utf-8")
    assert target == f"../{folder}"


@pytest.mark.parametrize("folder", AT_THE_TOP)
def test_the_folders_at_the_top_have_one_importable_name(folder: str, tmp_path: Path) -> None:
    code = (
        f"import importlib.util, tradesbench_gym.{folder}\n"
        f"assert importlib.util.find_spec({folder!r}) is None"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_importing_the_package_loads_neither_numba_nor_scipy(tmp_path: Path) -> None:
    code = "import sys, tradesbench_gym\nprint(*{'numba', 'scipy', 'networkx'} & set(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert ran.stdout.split() == []
