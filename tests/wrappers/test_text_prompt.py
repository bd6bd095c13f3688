"""What prompts say: that every fact of the desk is there, and that they stay small."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.envs.playing import tiny_env
from tests.wrappers.texts import business, played, text_env, trades
from tradesbench_gym.company.callers import caller_of
from tradesbench_gym.company.scenario import load_scenario
from tradesbench_gym.core.codes import CallState, Condition, Kind
from tradesbench_gym.envs import TradesEnv
from tradesbench_gym.wrappers import TextWrapper

REPORT_NUMBERS = ("$25,000.00", "$36.00", "$37.00", "$39.00", "$40.00", "$1,250.00")


@pytest.fixture(scope="module")
def moments() -> list[tuple[str, dict[str, Any]]]:
    """Prompts of a whole run, with what the desk and the events said at each."""
    env, found = text_env(), []
    for prompt, _ in played(env, 21):
        inner = trades(env)
        desk, simulation = inner.desk.copy(), inner.simulation
        caller = caller_of(simulation, simulation.line) if simulation.line else None
        facts = {"desk": desk, "caller": caller, "events": inner.take_events(), "env": env}
        found.append((prompt, facts))
    return found


def flat(prompt: str) -> str:
    """A prompt as one line, so that it does not matter where it was wrapped."""
    return " ".join(prompt.split())


def test_prompts_fit_a_terminal_and_a_small_model(moments: list[Any]) -> None:
    sizes = [len(prompt) for prompt, _ in moments]
    assert max(sizes) < 6_000
    assert np.mean(sizes) < 3_500
    assert all(len(line) <= 80 for prompt, _ in moments for line in prompt.splitlines())
    system = text_env().system_prompt
    assert len(system) < 6_000
    assert all(len(line) <= 80 for line in system.splitlines())


def test_the_caller_is_shown_with_everything_an_office_asks(moments: list[Any]) -> None:
    kinds = set()
    for prompt, facts in moments[:-1]:
        call, caller, text = facts["desk"].call, facts["caller"], flat(prompt)
        scenario = business(facts["env"]).scenario
        assert f"caller: {caller.name}, {caller.phone}" in text
        assert f"address: {caller.address.text}" in text
        assert f"customer type: {scenario.customers[int(call['customer'])].label}" in text
        ours = int(call["service"]) < len(scenario.services)
        wanted = (
            scenario.services[int(call["service"])].label
            if ours
            else scenario.other_work[int(call["service"]) - len(scenario.services)]
        )
        urgency = "URGENT" if call["urgent"] else "routine"
        assert f"requested service: {wanted}, {urgency}" in text
        assert f"({call['x'] / 1000:.1f}, {call['y'] / 1000:.1f})" in text
        assert f"call {int(facts['desk']['line']) + 1}?" in text
        kinds.add((ours, int(call["urgent"])))
    assert len(kinds) == 3, "a run has urgent calls, routine ones, and other work"


def test_clock_and_cash_open_the_prompt(moments: list[Any]) -> None:
    for prompt, facts in moments:
        desk = facts["desk"]
        cents, moment = int(desk["cash"]), int(desk["clock"])
        first = flat(prompt.split("\n\n")[0])
        assert business(facts["env"]).clock_text(moment) in first
        sign = "-" if cents < 0 else ""
        assert f"cash {sign}${abs(cents) // 100:,}.{abs(cents) % 100:02}" in first


def test_the_calendar_counts_every_open_job_and_marks_what_cannot_be_offered(
    moments: list[Any],
) -> None:
    for prompt, facts in moments[:-1]:
        desk = facts["desk"]
        calls = desk["calls"][: int(desk["n_calls"])]
        mask = desk.legal(qualified=False)
        rows = re.findall(
            r"^\w{3} (\d{4}-\d\d-\d\d)(\*?) +(\S+) +(\S+) +(\S+) +(\S+)$", prompt, re.MULTILINE
        )
        assert len(rows) == 14
        for ahead, (date, star, *cells) in enumerate(rows):
            day = int(desk["day"]) + ahead
            assert date == str(business(facts["env"]).date_of(day))
            assert (star == "*") == (day >= 14)
            for technician, cell in enumerate(cells):
                for window, sign in enumerate(cell):
                    slot = (calls["day"] == day) & (calls["technician"] == technician)
                    slot &= (calls["window"] == window) & np.isin(calls["state"], [4, 5, 6, 7])
                    count = int(slot.sum())
                    empty = "." if mask[technician, ahead, window] else "-"
                    assert sign == (str(count) if count else empty)


def test_every_open_job_is_told_with_its_place(moments: list[Any]) -> None:
    most = 0
    for prompt, facts in moments[:-1]:
        desk = facts["desk"]
        calls, text = desk["calls"][: int(desk["n_calls"])], flat(prompt)
        open_ = np.flatnonzero(np.isin(calls["state"], [4, 5, 6, 7])).tolist()
        most = max(most, len(open_))
        scenario = business(facts["env"]).scenario
        for job in open_:
            call = calls[job]
            opens, closes = (
                f"{at // 3600:02}:00"
                for at in (
                    desk["handbook"][name][int(call["window"])] for name in ("opens", "closes")
                )
            )
            label = scenario.services[int(call["service"])].label
            told = text[text.index(f"job {job + 1} {opens}-{closes} {label}") :]
            assert f"({call['x'] / 1000:.1f}, {call['y'] / 1000:.1f})" in told[:120]
    assert most > 8


def test_everybody_is_somewhere(moments: list[Any]) -> None:
    said = set()
    for prompt, facts in moments[:-1]:
        routes = prompt.split("Today's routes:\n")[1].split("\n\n")[0]
        for number, key in enumerate(("marcus", "diana", "roberto", "katherine")):
            man = facts["desk"]["technicians"][number]
            verb = ["is", "drives to", "waits at", "works on"][int(man["activity"])]
            assert f"- {key} {verb} " in routes
            said.add(verb)
            if verb != "is":
                assert f"{key} {verb} job {int(man['job']) + 1} " in flat(routes)
    assert len(said) == 4


def test_everything_that_ended_is_told_once(moments: list[Any]) -> None:
    """Of done, missed, failed and cancelled jobs, closed days and answers: each in one prompt."""
    words = {
        Kind.DONE: r"job {} done by",
        Kind.MISSED: r"job {} missed:",
        Kind.FAILED: r"job {} failed:",
        Kind.CANCELLED: r"job {} cancelled by its customer",
        Kind.BOOKED: r"call {}: you offered [^;]*; the customer accepted",
        Kind.DECLINED: r"call {}: you offered [^;]*; the customer declined",
        Kind.REJECTED: r"call {}: you rejected it",
    }
    seen: dict[Kind, int] = {}
    texts = [flat(prompt) for prompt, _ in moments]
    for place, (_, facts) in enumerate(moments):
        for event in facts["events"]:
            if event.kind not in words:
                continue
            wanted = re.compile(words[event.kind].format(event.call))
            assert wanted.search(texts[place]), (event, texts[place])
            assert sum(1 for text in texts if wanted.search(text)) == 1, event
            seen[event.kind] = seen.get(event.kind, 0) + 1
    assert seen.keys() >= words.keys() - {Kind.FAILED}
    closed = [re.findall(r"\w{3} (\d\d-\d\d) closed at", text) for text in texts]
    assert [day for days in closed for day in days] == [f"10-{day:02}" for day in range(1, 15)]


def test_money_of_a_job_is_told_when_it_is_done_and_not_before(moments: list[Any]) -> None:
    paid = 0
    for prompt, facts in moments:
        calls = facts["desk"]["calls"]
        for job, dollars, cents in re.findall(
            r"job (\d+) done by [^$]*invoice \$([\d,]+)\.(\d\d)", flat(prompt)
        ):
            assert calls["state"][int(job) - 1] == CallState.DONE
            assert calls["invoice"][int(job) - 1] == int(dollars.replace(",", "") + cents)
            paid += 1
    assert paid > 100


def test_the_weather_is_told_for_every_zone_of_eight_days(moments: list[Any]) -> None:
    for prompt, facts in moments[:-1:10]:
        lines = flat(prompt.split("highs in °F:\n")[1].split("\n\n")[0])
        days = re.split(r"- \w{3} \d\d-\d\d ", lines)[1:]
        assert len(days) == 8
        said = facts["desk"]["forecast"]
        for ahead, day in enumerate(days):
            conditions = said["condition"][ahead, :10]
            assert len(day.split("; ")) == len(set(conditions.tolist()))
            for kind in set(conditions.tolist()):
                highs = said["high"][ahead, :10][conditions == kind]
                span = str(highs.min()) if highs.min() == highs.max() else (
                    f"{highs.min()}-{highs.max()}")  # fmt: skip
                assert f"{Condition(kind).name.lower().replace('_', ' ')} {span}" in day


def test_the_last_prompt_says_that_it_is_over() -> None:
    env = text_env(days=2)
    *_, (prompt, info) = played(env, 3)
    assert "The last day has closed" in prompt
    assert "On the line" not in prompt
    assert info["results"]["completed"] > 0
    broke = TextWrapper(TradesEnv())
    broke.reset(seed=1)
    ended = False
    while not ended:
        prompt, _, ended, _, _ = broke.step("reject")
    assert "bankrupt" in prompt
    assert "-$1,790.00" in prompt  # 25,000 less 26,790, the fixed costs of A.9


def test_a_silent_day_is_told_when_it_has_passed() -> None:
    quiet = {"start": 0, "weekend_floor": 0, "other_min": 0, "other_max": 1}
    changes: dict[str, Any] = {f"demand.{name}": value for name, value in quiet.items()}
    changes |= {"demand.installations.0": "1", "demand.installations.1": "0"}
    env = TextWrapper(tiny_env({**changes, "demand.installations.2": "0"}))
    prompt, _ = env.reset(seed=3)
    ended, told = False, flat(prompt)
    while not ended:
        prompt, _, ended, _, _ = env.step("reject")
        told += flat(prompt)
    closed = re.findall(r"closed at [\d:]+: (\d) calls", told)
    assert {"0", "1"} <= set(closed)


def test_the_system_prompt_tells_what_the_report_tells() -> None:
    system = flat(text_env().system_prompt)
    for number in REPORT_NUMBERS:
        assert number in system
    for fact in ("45 to 180 minutes, usually 75", "45 to 210 minutes, usually 90",
                 "120 to 480 minutes, usually 300", "30 minutes", "25%", "20%", "10 hours",
                 "07:00-17:00", "17:00-19:00", "07:00-19:00", "2026-10-01", "2026-10-14",
                 "marcus", "diana", "roberto", "katherine"):  # fmt: skip
        assert fact in system


def test_the_system_prompt_follows_the_scenario() -> None:
    changed = load_scenario("sunridge").replace(
        {"company": "Ocotillo Repairs", "pay.overhead": 1999, "technicians.diana.wage": 55}
    )
    system = TextWrapper(TradesEnv(scenario=changed, days=3, start_date="2027-01-04")).system_prompt
    for fact in ("Ocotillo Repairs", "$1,999.00", "$55.00", "Monday 2027-01-04", "3 days"):
        assert fact in flat(system)


def test_the_system_prompt_tells_nothing_that_has_to_be_found_out() -> None:
    """A company of other hidden numbers has the same system prompt and the same prompts' form."""
    hidden = {
        "acceptance.routine_floor": "0.5",
        "acceptance.urgent_next_day": "0.9",
        "cancellation.slope_per_day": "0.02",
        "demand.start": 25,
        "demand.gain": "0.5",
        "driving.speed_factor": "2",
        "services.plumbing.prices.residential": ["100", "200", "300"],
    }
    other = TextWrapper(TradesEnv(scenario=load_scenario("sunridge").replace(hidden)))
    assert other.system_prompt == text_env().system_prompt


def test_a_handbook_may_stand_in_place_of_our_chapters() -> None:
    system = text_env(handbook="# All there is to know\n").system_prompt
    assert "# All there is to know" in system
    assert "WINDOWS" not in system
    assert "HOW YOU ANSWER" in system


def test_reminders_that_are_promised_are_those_there_are() -> None:
    assert "up to 2 times" in flat(text_env().system_prompt)
    assert "once; after that" in flat(text_env(reminders=1).system_prompt)
    assert "counts as no answer" in flat(text_env(reminders=0).system_prompt)


def test_a_scenario_of_many_people_and_odd_letters_still_fits() -> None:
    people: dict[str, Any] = {"company": "Müller & Søn 修理", "other_work": ["Dächer", "屋根"]}
    env = TextWrapper(tiny_env(people, days=2))
    for seed in range(3):
        for prompt, _ in played(env, seed):
            assert prompt in env.observation_space
            assert all(len(line) <= 80 for line in prompt.splitlines())
    assert "Müller & Søn 修理" in env.system_prompt
