"""Seeds and policies as people type them."""

import pytest

from tradesbench_gym.errors import TradesBenchError
from tradesbench_gym.report.selection import check_size, parse_policies, parse_seeds


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("0:23", list(range(23))),
        ("5", [5]),
        ("1,4,7", [1, 4, 7]),
        ("7, 0:3 ,2", [7, 0, 1, 2]),
        (str(2**64 - 1), [2**64 - 1]),
    ],
)
def test_seeds_are_numbers_and_half_open_ranges_each_played_once(
    text: str, seeds: list[int]
) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "0-23",
        "5:5",
        "3:1",
        ":3",
        "1,,2",
        "-1",
        "1.5",
        "0:1:2",
        "٣",
        str(2**64),
        "0:9999999",
    ],
)
def test_text_that_names_no_seeds_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(TradesBenchError) as refusal:
        parse_seeds(text)
    assert refusal.value.code == "seeds"
    assert "\n" not in refusal.value.message


def test_a_setting_belongs_to_the_policy_before_it() -> None:
    text = "oracle, oracle:margin=20,quantile=0.8, reject-heavy:share=0.5,do-nothing,oracle"
    assert parse_policies(text) == [
        "oracle",
        "oracle:margin=20,quantile=0.8",
        "reject-heavy:share=0.5",
        "do-nothing",
    ]


def test_no_policy_at_all_is_refused() -> None:
    with pytest.raises(TradesBenchError, match="at least one policy"):
        parse_policies(" , ")


def test_more_runs_than_a_million_are_refused() -> None:
    check_size(["oracle"], range(1_000_000))
    with pytest.raises(TradesBenchError, match="1,000,000 runs"):
        check_size(["oracle", "accept-all"], range(500_001))
