"""Whose the workspace is: the agent's while a cell is open, the engine's otherwise.

Nothing in it is followed anywhere: an agent may have left links. This module knows no cell.
"""

from __future__ import annotations

import os
from pathlib import Path


def give_to(uid: int, gid: int, workspace: Path) -> None:
    """Make a folder and everything in it a user's own; no process of the other's may be running."""
    if not workspace.is_dir():
        return
    for _, folders, files, folder in os.fwalk(workspace, follow_symlinks=False):
        os.fchown(folder, uid, gid)
        for name in (*folders, *files):
            one = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if (one.st_uid, one.st_gid) != (uid, gid):
                os.chown(name, uid, gid, dir_fd=folder, follow_symlinks=False)
    workspace.chmod(0o700)
