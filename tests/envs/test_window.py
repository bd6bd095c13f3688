"""`human`: a window where there is one, else the board and one line that says so; and video."""

from __future__ import annotations

import importlib.util
from copy import deepcopy
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from tests.envs.batches import reject_all
from tests.envs.playing import REJECT
from tradesbench_gym.envs import TradesEnv, TradesVectorEnv
from tradesbench_gym.envs.picture import needs
from tradesbench_gym.errors import RenderError

NAME = "tradesbench_gym:TradesBench-v0"
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")


@pytest.fixture
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name in DISPLAYS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def pygame(monkeypatch: pytest.MonkeyPatch) -> Any:
    """pygame, with SDL drawing into memory as it would into a window."""
    for name in DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setenv("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    module = pytest.importorskip("pygame")
    module.display.quit()  # a driver that another test has chosen
    yield module
    module.display.quit()


def human(**arguments: Any) -> TradesEnv:
    env = TradesEnv(render_mode="human", days=1, **arguments)
    env.metadata = {**env.metadata, "render_fps": 1000}
    env.reset(seed=5)
    return env


def without(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """As if a package were not installed."""
    find = importlib.util.find_spec

    def spec(name: str, package: str | None = None) -> Any:
        return None if name == missing else find(name, package)

    monkeypatch.setattr(needs, "find_spec", spec)
    monkeypatch.setattr("tradesbench_gym.envs.picture.window.find_spec", spec)


@pytest.mark.usefixtures("no_display")
def test_without_a_display_the_board_is_printed_and_one_line_says_why(
    capsys: pytest.CaptureFixture[str],
) -> None:
    env = human()
    env.step(REJECT)
    out = capsys.readouterr().out
    said = "No window: this computer has no display. The board is printed here instead."
    assert out.splitlines()[0] == said
    assert out.count("No window") == 1
    assert "☎ call 1 " in out
    assert "☎ call 2 " in out


@pytest.mark.parametrize("missing", ["PIL", "pygame"])
def test_without_the_extra_the_line_says_how_to_get_it(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    without(monkeypatch, missing)
    env = human()
    env.close()
    said = " ".join(capsys.readouterr().out.split())
    assert "pip install 'tradesbench-gym[render]'" in said
    assert "☎ call 1 " in said


def test_pictures_without_pillow_are_refused_when_the_environment_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without(monkeypatch, "PIL")
    for make in (TradesEnv, TradesVectorEnv):
        with pytest.raises(RenderError, match=r"Pillow.*pip install") as caught:
            make(render_mode="rgb_array")
        assert (caught.value.code, caught.value.field) == ("render_missing", "render_mode")


def test_the_window_shows_the_picture(pygame: Any) -> None:
    env = human()
    likeness = TradesEnv(render_mode="rgb_array", days=1)
    likeness.reset(seed=5)
    showing = env._showing
    assert showing is not None
    assert showing._window is not None
    for _ in range(3):
        surface = showing._window._window.get_surface()
        shown = pygame.surfarray.array3d(surface).swapaxes(0, 1)
        assert (shown == likeness.render()).all()
        env.step(REJECT)
        likeness.step(REJECT)
    env.close()
    env.close()


def test_whoever_closes_the_window_lets_the_run_go_on_unseen(
    pygame: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    env = human()
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    for _ in range(3):
        env.step(REJECT)
    showing = env._showing
    assert showing is not None
    assert showing._window is not None
    assert showing._window._window is None
    assert capsys.readouterr().out == ""


def test_two_environments_have_two_windows(pygame: Any) -> None:
    one, two = human(), human()
    two.step(REJECT)
    surfaces = [
        pygame.surfarray.array3d(env._showing._window._window.get_surface())  # type: ignore[union-attr]
        for env in (one, two)
    ]
    assert (surfaces[0] != surfaces[1]).any()
    one.close()
    two.step(REJECT)
    two.close()


def test_a_copy_has_no_window_until_it_shows_something(pygame: Any) -> None:
    del pygame
    env = human()
    twin = deepcopy(env)
    assert twin._showing is not None
    assert twin._showing._window is None
    env.close()


def test_a_driver_that_cannot_be_had_is_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = pytest.importorskip("pygame")
    module.display.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", "no-such-driver")
    human()
    assert capsys.readouterr().out.startswith("No window: no window can be opened (")


# -- Gymnasium's wrappers --


def test_gymnasiums_own_collection_of_frames_works() -> None:
    env = gym.make(NAME, render_mode="rgb_array_list", days=1)
    env.reset(seed=5)
    env.step(REJECT)
    frames: Any = env.render()
    assert isinstance(frames, list)
    assert [np.asarray(frame).shape for frame in frames] == [(720, 1280, 3)] * 2


def test_gymnasiums_own_window_works(pygame: Any) -> None:
    del pygame
    env = gym.make(NAME, render_mode="rgb_array", days=1)
    env.unwrapped.metadata = {**env.metadata, "render_fps": 1000}
    shown: Any = gym.wrappers.HumanRendering(env)
    shown.reset(seed=5)
    shown.step(REJECT)
    assert shown.screen_size == (1280, 720)
    shown.close()


def test_record_video_takes_a_frame_of_each_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what writes the file taken out, for whoever has no moviepy."""
    kept: list[int] = []

    def stop(self: Any) -> None:
        kept.append(len(self.recorded_frames))
        assert {frame.shape for frame in self.recorded_frames} == {(720, 1280, 3)}
        assert self.frames_per_sec == TradesEnv.metadata["render_fps"]
        self.recorded_frames, self.recording = [], False

    monkeypatch.setattr(gym.wrappers.RecordVideo, "stop_recording", stop)
    monkeypatch.setitem(__import__("sys").modules, "moviepy", object())
    env: Any = gym.wrappers.RecordVideo(
        gym.make(NAME, render_mode="rgb_array", days=1),
        str(tmp_path / "films"),
        episode_trigger=bool,
    )
    for seed in (5, 6):  # episode 0 is not recorded
        env.reset(seed=seed)
        ended, steps = False, 0
        while not ended:
            _, _, ended, _, _ = env.step(REJECT)
            steps += 1
    env.close()
    assert kept == [steps + 1]


@pytest.mark.slow
def test_record_video_writes_a_film(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    env: Any = gym.wrappers.RecordVideo(
        gym.make(NAME, render_mode="rgb_array", days=1), str(tmp_path / "films"), video_length=12
    )
    env.reset(seed=5)
    for _ in range(12):
        env.step(REJECT)
    env.close()
    (film,) = (tmp_path / "films").glob("*.mp4")
    assert film.stat().st_size > 20_000


@pytest.mark.slow
def test_record_video_of_a_batch_takes_all_its_frames(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    batch = TradesVectorEnv(4, render_mode="rgb_array", days=1)
    env: Any = gym.wrappers.vector.RecordVideo(
        batch, str(tmp_path / "films"), video_length=3, video_aspect_ratio=(16, 9)
    )
    env.reset(seed=5)
    for _ in range(4):
        env.step(reject_all(4))
    env.close()
    (film,) = (tmp_path / "films").glob("*.mp4")
    assert film.stat().st_size > 10_000
