"""Whose the workspace is: the agent's while a cell is open, the engine's otherwise.

Nothing in it is followed anywhere: an agent may have left links, and folders in folders without
end. This module knows no cell.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


def give_to(uid: int, gid: int, workspace: Path) -> None:
    """Make a folder and everything in it a user's own; no process of the other's may be running.

    However deep the tree is, one folder is open at a time, and nothing calls itself.
    """
    if not workspace.is_dir():
        return
    here = os.open(workspace, _FOLDER)
    try:
        below = [_give_one(uid, gid, here)]
        while below:
            if below[-1]:
                here = _moved(here, below[-1].pop())
                below.append(_give_one(uid, gid, here))
            else:
                below.pop()
                here = _moved(here, "..") if below else here
    finally:
        os.close(here)
    workspace.chmod(0o700)


def _give_one(uid: int, gid: int, here: int) -> list[str]:
    """Give a folder and what lies in it itself; the folders among that."""
    os.fchown(here, uid, gid)
    folders = []
    for name in os.listdir(here):
        one = os.stat(name, dir_fd=here, follow_symlinks=False)
        if (one.st_uid, one.st_gid) != (uid, gid):
            os.chown(name, uid, gid, dir_fd=here, follow_symlinks=False)
        if stat.S_ISDIR(one.st_mode):
            folders.append(name)
    return folders


def _moved(here: int, name: str) -> int:
    there = os.open(name, _FOLDER, dir_fd=here)
    os.close(here)
    return there
