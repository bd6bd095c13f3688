"""Two worlds that differ only in hidden state look the same through every public surface.

What is hidden is read off the tables in `core/layout.py`; a twin gets other bytes in all of it, at
many moments of a run, and must show, say and refuse exactly what the original does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.envs.playing import any_action, episode, frozen, legal_offer, offer, tiny_env
from tradesbench_gym.core.codes import CallState
from tradesbench_gym.core.layout import CALL, DAY, DUE, FIELDS, MAX_ZONES, TECHNICIAN
from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.errors import ActionError
from tradesbench_gym.policies import make_policy

DAYS = 12
# Arrays of RUN beside the fields of its head: hidden, public, or one or the other by field.
HIDDEN_ARRAYS = ("due", "lost", "sky", "doubt")
PUBLIC_ARRAYS = ("route", "forecast")
RECORDS = {"technicians": "technician", "days": "day", "calls": "call"}
Path = tuple[str, ...]


def _hidden(record: str) -> list[str]:
    return [field.name for field in FIELDS[record] if field.seen == "hidden"]


def hidden_paths() -> list[Path]:
    """Every hidden field of RUN, by the names that lead to it."""
    paths: list[Path] = [(name,) for name in _hidden("run")]
    paths += [(array, name) for array, record in RECORDS.items() for name in _hidden(record)]
    paths += [("due", name) for name in DUE.names or ()]
    more = [("lost",), ("sky", "high"), ("sky", "condition"), ("doubt", "error"), ("doubt", "lost")]
    return [*paths, *more]


def _array(run: np.void, path: Path) -> npt.NDArray[Any]:
    found: Any = run
    for name in path[:-1]:
        found = found[name]
    return np.atleast_1d(found[path[-1]])


def _other_values(like: npt.NDArray[Any], random: np.random.Generator) -> npt.NDArray[Any]:
    return np.frombuffer(random.bytes(like.nbytes), like.dtype).reshape(like.shape)


def _write(run: np.void, path: Path, values: npt.NDArray[Any]) -> None:
    holder: Any = run
    for name in path[:-1]:
        holder = holder[name]
    if np.ndim(holder[path[-1]]):
        holder[path[-1]][...] = values
    else:
        holder[path[-1]] = values[0]


def _write_unborn(run: np.void, random: np.random.Generator) -> None:
    """Other money for jobs that are not done, other bytes for calls and days still to come."""
    calls, days = run["calls"], run["days"]
    for name in ("invoice", "material"):
        not_done = calls["state"] != CallState.DONE
        calls[name][not_done] = _other_values(calls[name], random)[not_done]
    count, day = int(run["n_calls"]), int(run["day"])
    calls[count:] = _other_values(calls[count:].view(np.uint8), random).view(CALL)
    days[day + 1 :] = _other_values(days[day + 1 :].view(np.uint8), random).view(DAY)


def twin_of(env: TradesEnv, twin: TradesEnv, random: np.random.Generator) -> None:
    """Bring the twin to the same point, in a world whose every hidden part is another."""
    twin.set_state(env.get_state())
    run = twin.simulation.record
    for path in hidden_paths():
        _write(run, path, _other_values(_array(run, path), random))
    _write_unborn(run, random)


def shown(env: TradesEnv) -> Any:
    """Every public surface: observation, mask, public info, desk, the board."""
    observation, info = env.observe()
    info.pop("run_seed")
    desk = env.desk
    return frozen([observation, info, env.action_masks(), desk.array.view(np.uint8), env.render()])


def decisions(env: TradesEnv) -> list[Any]:
    """What every policy makes of the desk."""
    return [make_policy(name)(env.desk) for name in ("oracle", "accept-all", "reject-heavy")]


def sentences(env: TradesEnv) -> list[str]:
    """What is said to each offer that is not let out."""
    said = []
    for slot in [*np.ndindex(5, 3, 6), (0, 14, 0), (1, 13, 5), (0, 0, 7)]:
        if slot[0] < 4 and slot[2] < 6 and slot[1] < 14 and env.observe()[1]["action_mask"][slot]:
            continue
        with pytest.raises(ActionError) as caught:
            env.step(offer(*slot))
        said.append(f"{caught.value.code} {caught.value.field} {caught.value.message}")
    return said


def _pair(**arguments: Any) -> tuple[TradesEnv, TradesEnv]:
    arguments = {"render_mode": "ansi", "strict": True, "days": DAYS, **arguments}
    return TradesEnv(**arguments), TradesEnv(**arguments)


def test_the_tables_name_every_part_of_the_state() -> None:
    env = TradesEnv(days=1)
    env.reset(seed=1)
    head = {field.name for field in FIELDS["run"]}
    arrays = {*HIDDEN_ARRAYS, *PUBLIC_ARRAYS, *RECORDS}
    assert head | arrays == set(env.simulation.record.dtype.names or ())
    for dtype, record in ((CALL, "call"), (DAY, "day"), (TECHNICIAN, "technician"), (DUE, "due")):
        assert dtype.names == tuple(field.name for field in FIELDS[record])
    assert {field.seen for fields in FIELDS.values() for field in fields} == {
        "desk",
        "done",
        "hidden",
    }


def test_what_a_dispatcher_must_not_know_is_hidden_in_the_tables() -> None:
    for path in (
        ("seed",),
        ("salt",),
        ("level",),
        ("due_count",),
        ("next_cancel",),
        ("technicians", "until"),
        ("technicians", "anchor"),
        ("technicians", "leg"),
        ("calls", "anchor"),
        ("calls", "leg"),
        ("calls", "cancel_at"),
        ("calls", "metres"),
        ("calls", "book"),
        ("days", "level"),
        ("due", "at"),
    ):
        assert path in hidden_paths()


@pytest.mark.parametrize("observation", ["desk", "planned"])
def test_worlds_that_differ_only_in_what_is_hidden_look_the_same(observation: str) -> None:
    env, twin = _pair(observation=observation)
    random = np.random.default_rng(1)
    for number, moment in enumerate(episode(env, 41)):
        if number % 3 and not moment.terminated:
            continue
        twin_of(env, twin, random)
        assert twin.simulation.digest() != env.simulation.digest()
        assert shown(twin) == shown(env)
        if not moment.terminated:
            assert decisions(twin) == decisions(env)
    assert number > 60


def test_no_error_sentence_depends_on_what_is_hidden() -> None:
    env, twin = _pair()
    random = np.random.default_rng(2)
    for number, moment in enumerate(episode(env, 42)):
        if number % 29 or moment.terminated:
            continue
        twin_of(env, twin, random)
        assert sentences(twin) == sentences(env) != []


def test_no_sentence_to_a_malformed_action_depends_on_what_is_hidden() -> None:
    env, twin = _pair()
    env.reset(seed=1)
    twin_of(env, twin, np.random.default_rng(3))
    for action in (None, "x", [1, 2], np.array([3, 0, 0, 0])):
        said = []
        for world in (env, twin):
            with pytest.raises(ActionError) as caught:
                world.step(action)  # type: ignore[arg-type]
            said.append(str(caught.value))
        assert said[0] == said[1]


@pytest.mark.parametrize("path", hidden_paths(), ids=".".join)
def test_each_hidden_field_by_itself_shows_nowhere(path: Path) -> None:
    env, twin = _pair(observation="planned", days=4)
    random = np.random.default_rng(4)
    for number, _ in enumerate(episode(env, 43)):
        if number % 20 != 15:
            continue
        twin.set_state(env.get_state())
        run = twin.simulation.record
        _write(run, path, _other_values(_array(run, path), random))
        assert shown(twin) == shown(env)


@pytest.mark.parametrize("name", ["cash", "clock", "lowest", "n_calls"])
def test_this_test_would_see_a_field_that_is_public(name: str) -> None:
    env, twin = _pair()
    env.reset(seed=1)
    env.step(offer(0, 1, 2))
    twin.set_state(env.get_state())
    twin.simulation.record[name] -= 1
    assert shown(twin) != shown(env)


@pytest.mark.parametrize("name", ["x", "zone", "urgent", "address"])
def test_this_test_would_see_a_public_field_of_the_caller(name: str) -> None:
    env, twin = _pair()
    env.reset(seed=1)
    twin.set_state(env.get_state())
    call = twin.simulation.record["calls"][int(twin.simulation.record["line"])]
    call[name] = call[name] ^ 1
    assert shown(twin) != shown(env)


def test_the_future_does_not_show_before_it_comes() -> None:
    """Weather beyond today decides the run, and only its forecast is seen."""
    env, twin = _pair()
    env.reset(seed=1)
    twin.set_state(env.get_state())
    sky = twin.simulation.record["sky"]
    sky["high"][1:, :MAX_ZONES] += 40
    sky["condition"][1:] = 3
    assert shown(twin) == shown(env)


def test_info_holds_nothing_hidden_but_the_number_of_the_run() -> None:
    env = tiny_env(days=3)
    allowed = {"run_seed", "action_mask", "answer", "error", "results"}
    for choose in (any_action, legal_offer):
        for moment in episode(env, 44, choose):
            assert set(moment.info) <= allowed
            assert ("results" in moment.info) == moment.terminated


def test_the_seed_stands_in_no_observation_and_on_no_board() -> None:
    env = TradesEnv(render_mode="ansi", observation="planned", days=2)
    seed = 1_234_567
    for moment in episode(env, seed):
        assert not any((array == seed).any() for array in moment.observation.values())
        assert str(seed) not in str(env.render())
