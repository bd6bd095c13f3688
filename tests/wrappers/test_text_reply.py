"""What is an answer and what is none: replies read word by word."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.worlds import DIANA, KATHERINE, MARCUS, ROBERTO, W07, W09, W11, W13, W15, W17
from tradesbench_gym.company.business import open_business
from tradesbench_gym.company.scenario import load_scenario
from tradesbench_gym.policies import Decision
from tradesbench_gym.wrappers.text_chat import reply_from_tool_call
from tradesbench_gym.wrappers.text_reply import FORM, MOST_CHARACTERS, read_reply
from tradesbench_gym.wrappers.text_terms import ReplyError, Terms

# The run begins on Thursday 2026-10-01 and ends on Wednesday 2026-10-14.
TERMS = Terms(open_business())
BOOKING = {"answer": "book", "technician": "diana", "date": "2026-10-05", "window": "09:00"}
BOOKED = Decision(DIANA, 4, W09)


def read(reply: str, today: int = 0) -> Decision | None:
    return read_reply(reply, TERMS, today)


def refused(reply: str, today: int = 0) -> ReplyError:
    with pytest.raises(ReplyError) as caught:
        read(reply, today)
    error = caught.value
    assert error.code != "error"
    assert error.field
    assert error.message.isascii()
    assert error.message.isprintable()
    assert len(error.message) < 400
    return error


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps(BOOKING),
        json.dumps(BOOKING, indent=4),
        f"```json\n{json.dumps(BOOKING)}\n```",
        f"I think {json.dumps(BOOKING)} is best, as she is free {{then}}.",
        json.dumps([BOOKING]),
        json.dumps({**BOOKING, "reason": "close to {her} last job", "sure": 0.9}),
        json.dumps({key.upper(): value.upper() for key, value in BOOKING.items()}),
        json.dumps({**BOOKING, "technician": "  Diana   Chen "}),
        json.dumps({**BOOKING, "technician": "CHEN"}),
        json.dumps({**BOOKING, "date": "2026-10-05T00:00:00"}),
        json.dumps({**BOOKING, "window": 9}),
        json.dumps({"name": "book_job", "arguments": {k: BOOKING[k] for k in list(BOOKING)[1:]}}),
        "book diana 2026-10-05 09:00",
        "  Book Diana 2026-10-05 9:00  ",
        "BOOK DIANA CHEN 2026-10-05 9AM",
        "**book diana 2026-10-05 09:00**",
        "`book diana, 2026-10-05, 09:00-11:00`",
        "> book diana on Mon 2026-10-05 at 9 a.m.",
        "Answer: book diana 2026-10-05 09:00.",
        "She lives near there.\n\nbook diana 2026-10-05 09:00\n\nThat should do.",
        "```\nbook diana Oct 5 9-11\n```",
        "book diana 5 October 2026 09:00",
        "book diana monday, october 5th 9 am - 11 am",
        "<think>reject? or {}? book diana 2026-10-06 09:00</think>\nbook diana 2026-10-05 09:00",
        "no tag opened, {} </think> book diana 2026-10-05 09:00",
    ],
)
def test_one_answer_is_found_whatever_stands_around_it(reply: str) -> None:
    assert read(reply) == BOOKED


@pytest.mark.parametrize(
    "reply",
    [
        '{"answer": "reject"}',
        '{"ANSWER": "Reject", "technician": null}',
        '{"name": "reject_call", "arguments": {}}',
        "reject",
        "Reject.",
        "**REJECT**",
        "Roofing is not our work.\nreject the call",
        "\ufeffreject"[1:],
    ],
)
def test_rejections_are_understood(reply: str) -> None:
    assert read(reply) is None


@pytest.mark.parametrize(
    ("said", "window"),
    [
        ("07:00", W07),
        ("7", W07),
        ("7am", W07),
        ("9:00:00", W09),
        ("11", W11),
        ("11-1", W11),
        ("11am-1pm", W11),
        ("1pm", W13),
        ("1:00", W13),
        ("13:00-15:00", W13),
        ("3 PM", W15),
        ("3-5 p.m.", W15),
        ("15:00 to 17:00", W15),
        ("5", W17),
        ("17:00–19:00", W17),
        ("5 - 7pm", W17),
        (17, W17),
    ],
)
def test_times_mean_the_window_they_begin(said: Any, window: int) -> None:
    assert read(json.dumps({**BOOKING, "window": said})) == BOOKED._replace(window=window)


@pytest.mark.parametrize(
    "said",
    ["08:00", "7pm", "9pm", "9-12", "7-10", "25:00", "13pm", "0", "morning", "", "9 10", 8.5, True,
     [9], {"at": 9}, "09:30", "-9", "9:", "1" * 400],
)  # fmt: skip
def test_other_times_are_no_window_and_the_windows_are_named(said: Any) -> None:
    error = refused(json.dumps({**BOOKING, "window": said}))
    assert error.field == "window"
    assert error.code in {"unknown_window", "missing_field"}
    if said:
        assert "07:00, 09:00, 11:00, 13:00, 15:00 or 17:00" in error.message


@pytest.mark.parametrize(
    ("said", "today", "ahead"),
    [
        ("today", 3, 0),
        ("Tomorrow", 3, 1),
        ("2026-10-14", 0, 13),
        ("2026/10/4", 0, 3),
        ("10-05", 0, 4),
        ("10/5", 0, 4),
        ("Oct 5", 0, 4),
        ("oct. 5, 2026", 0, 4),
        ("5th of October", 0, 4),
        ("Sunday, October 4", 0, 3),
        # From the 8th on, the second day of each name lies after the end of the run.
        ("Monday", 7, 4),
        ("wed", 8, 5),
        ("2026-09-30", 0, -1),  # which the company itself refuses
        ("2027-10-01", 0, 365),
    ],
)
def test_dates_are_counted_from_today(said: str, today: int, ahead: int) -> None:
    found = read(json.dumps({**BOOKING, "date": said}), today)
    assert found == BOOKED._replace(ahead=ahead)


@pytest.mark.parametrize("said", ["Monday", "thu", "Thursday"])
def test_a_weekday_that_may_be_two_days_is_asked_back_with_both(said: str) -> None:
    error = refused(json.dumps({**BOOKING, "date": said}))
    assert error.code == "ambiguous_date"
    dates = ("2026-10-01", "2026-10-08") if said.lower().startswith("thu") else (
        "2026-10-05", "2026-10-12")  # fmt: skip
    assert all(date in error.message for date in dates)


def test_a_weekday_is_one_day_where_no_week_can_be_booked() -> None:
    week = load_scenario("sunridge").replace({"calendar.booking_days": 7})
    terms = Terms(open_business(week))
    assert read_reply("book diana monday 9am", terms, 0) == BOOKED


@pytest.mark.parametrize(
    "said",
    ["2026-13-01", "2026-02-30", "soon", "next week", "5", "32 oct", "tuesday 2026-10-05",
     "2026-10-05 or so", "0000-00-00", 20261005, None, [], "9" * 300],
)  # fmt: skip
def test_other_days_are_no_date(said: Any) -> None:
    error = refused(json.dumps({**BOOKING, "date": said}))
    assert error.field == "date"
    assert error.code in {"unknown_date", "ambiguous_date", "missing_field"}


@pytest.mark.parametrize(
    ("said", "technician"),
    [("Marcus", MARCUS), ("vega", MARCUS), ("Roberto Salas", ROBERTO), ("OSEI", KATHERINE)],
)
def test_technicians_have_several_names(said: str, technician: int) -> None:
    assert read(f"book {said} 2026-10-05 09:00") == BOOKED._replace(technician=technician)


@pytest.mark.parametrize("said", ["bob", "diana marcus", "0", 1, "", "\udc80", "d" * 9999, {}])
def test_a_wrong_name_is_answered_with_the_right_ones(said: Any) -> None:
    error = refused(json.dumps({**BOOKING, "technician": said}))
    assert error.field == "technician"
    if said != "":
        assert error.code == "unknown_technician"
        assert "marcus, diana, roberto or katherine" in error.message


def test_a_name_that_two_share_is_asked_back_but_not_a_short_name() -> None:
    twins = load_scenario("sunridge").replace({"technicians.diana.name": "Marcus Vega-Chen Vega"})
    terms = Terms(open_business(twins))
    with pytest.raises(ReplyError) as caught:
        read_reply("book vega 2026-10-05 09:00", terms, 0)
    assert caught.value.code == "ambiguous_technician"
    marcus = read_reply("book marcus 2026-10-05 09:00", terms, 0)
    assert marcus == BOOKED._replace(technician=MARCUS)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("", "empty_reply"),
        (" \n\t ", "empty_reply"),
        ("<think>book diana 2026-10-05 09:00", "empty_reply"),
        ("I would be glad to help you with that!", "no_answer"),
        ("I reject this call.", "no_answer"),
        ("Book the job with Diana, please", "no_answer"),
        ("book diana 2026-10-05", "no_answer"),
        ("book 2026-10-05 09:00 diana", "no_answer"),
        ('{"answer": "book", ', "no_answer"),
        ("{'answer': 'reject'}", "no_answer"),
        ('{"answer": "reject", "answer": "book"}', "no_answer"),
        ("null", "no_answer"),
        ("\0\0\0", "no_answer"),
        ("\udc80\ud800", "no_answer"),
        ("{" * 50_000, "no_answer"),
        ('{"a":[' * 20_000, "no_answer"),
        ("{}", "unknown_answer"),
        ('{"answer": "maybe"}', "unknown_answer"),
        ('{"answer": 1}', "unknown_answer"),
        ('{"answer": ["book"]}', "unknown_answer"),
        ('{"answer": "book"}', "missing_field"),
        (json.dumps(BOOKING) + json.dumps(BOOKING), "several_answers"),
        ('{"answer": "reject"}\nreject', "several_answers"),
        ("reject\nreject", "several_answers"),
        ("{} {}", "several_answers"),
        ("x" * 1_000_000, "long_reply"),
        ('{"answer": "reject"}' + " " * MOST_CHARACTERS, "long_reply"),
    ],
)
def test_what_is_no_answer_is_told_in_one_sentence(reply: str, code: str) -> None:
    error = refused(reply)
    assert error.code == code
    assert FORM in error.message
    assert not re.search(r"\d", FORM), "an example that could be copied"


def test_tool_calls_read_as_the_same_answers() -> None:
    arguments = {key: BOOKING[key] for key in ("technician", "date", "window")}
    assert read(reply_from_tool_call("book_job", json.dumps(arguments))) == BOOKED
    assert read(reply_from_tool_call("reject_call", "{}")) is None
    assert read(reply_from_tool_call("reject_call", "")) is None
    assert read(reply_from_tool_call("reject_call", '{"why": "far"}')) is None
    misnamed = json.dumps({**arguments, "answer": "reject"})
    assert read(reply_from_tool_call("book_job", misnamed)) == BOOKED


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("book_job", "{}", "missing_field"),
        ("book_job", "not json", "no_answer"),
        ("book_job", '{"technician": ', "no_answer"),
        ("book_job", "[1]", "no_answer"),
        ("book_job", '{"a":' * 5_000, "no_answer"),
        ("send_email", "{}", "unknown_answer"),
        ("", "", "unknown_answer"),
        (None, None, "unknown_answer"),
        ("book_job", 7, "no_answer"),
        ("\udc80", "\0", "no_answer"),
    ],
)
def test_broken_tool_calls_are_told_like_other_replies(
    name: Any, arguments: Any, code: str
) -> None:
    assert refused(reply_from_tool_call(name, arguments)).code == code
