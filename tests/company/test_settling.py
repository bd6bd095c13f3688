"""A company far from the map's city moves there; one that lives near it stays."""

from __future__ import annotations

from tests.worlds import homes, tiny_map
from tradesbench_gym.company.business import open_business
from tradesbench_gym.company.scenario import load_scenario
from tradesbench_gym.company.settling import on_the_map, settle

# The capital of the next state but one.
FAR = {"home_lat": "38.576700", "home_lon": "-121.493400"}


def far_away(*names: str) -> dict[str, object]:
    people = load_scenario().technicians
    return {
        f"technicians.{person.key}.{key}": value
        for person in people
        if person.key in names or not names
        for key, value in FAR.items()
    }


def test_a_company_near_the_map_stays_as_it_is() -> None:
    scenario = load_scenario().replace(homes())
    assert settle(scenario, tiny_map()) is scenario


def test_a_company_far_away_moves_to_anchors_with_houses_around_them() -> None:
    scenario = load_scenario().replace(far_away())
    settled = settle(scenario, tiny_map())
    assert settled.digest != scenario.digest
    places = set(tiny_map().anchors[["lat_e6", "lon_e6"]].tolist())
    moved = [
        (round(float(p.home_lat) * 1e6), round(float(p.home_lon) * 1e6))
        for p in settled.technicians
    ]
    assert set(moved) <= places
    assert len(set(moved)) == len(moved)  # spread over the map
    assert settled.replace(far_away()).digest == scenario.digest  # and nothing else has changed


def test_where_one_lives_near_the_map_nobody_moves() -> None:
    scenario = load_scenario().replace(homes()).replace(far_away("marcus"))
    assert settle(scenario, tiny_map()) is scenario


def test_the_business_is_that_of_the_settled_company() -> None:
    business = open_business(load_scenario().replace(far_away()), tiny_map())
    for person in business.scenario.technicians:
        assert on_the_map(business.roadmap, float(person.home_lat), float(person.home_lon))
