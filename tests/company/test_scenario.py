"""The numbers of Sunridge Services: those the report gives are the report's, ours have its shape.

Numbers stand here as the report prints them, with the arithmetic beside them.
"""

from datetime import date
from decimal import Decimal

from tests.company.scenarios import HOUR, SUNRIDGE
from tradesbench_gym.company import scenario_schema as schema
from tradesbench_gym.core import codes, layout
from tradesbench_gym.roads.layout import Kind as AddressKind


def test_the_run_is_1_to_14_october_2026_and_starts_on_a_thursday() -> None:
    calendar = SUNRIDGE.calendar
    assert calendar.start_date == date(2026, 10, 1)
    assert calendar.start_date.strftime("%A") == "Thursday"
    assert (calendar.days, calendar.booking_days) == (14, 14)
    assert sum(map(is_weekend, range(14))) == 4


def test_the_office_opens_at_06_45_and_customers_phone_from_7_to_19() -> None:
    calendar = SUNRIDGE.calendar
    assert calendar.office_opens == 6 * HOUR + 45 * 60
    assert (calendar.calls_from, calendar.calls_until) == (7 * HOUR, 19 * HOUR)


def test_six_two_hour_windows_run_from_7_to_19_and_the_last_is_the_evening() -> None:
    hours = [(w.opens // HOUR, w.closes // HOUR, w.evening) for w in SUNRIDGE.windows]
    regular = [(7, 9, False), (9, 11, False), (11, 13, False), (13, 15, False), (15, 17, False)]
    assert hours == [*regular, (17, 19, True)]


def test_four_technicians_with_their_trades_and_wages() -> None:
    people = {p.name: (p.wage_cents // 100, set(p.skills)) for p in SUNRIDGE.technicians}
    assert people == {
        "Marcus Vega": (36, {"hvac_service"}),
        "Roberto Salas": (37, {"plumbing"}),
        "Katherine Osei": (39, {"electrical"}),
        "Diana Chen": (40, {"hvac_service", "hvac_installation"}),
    }
    assert [p.key for p in SUNRIDGE.technicians] == ["marcus", "diana", "roberto", "katherine"]


def test_marcus_and_roberto_are_on_call() -> None:
    assert {p.key for p in SUNRIDGE.technicians if p.on_call} == {"marcus", "roberto"}


def is_weekend(day: int) -> bool:
    first = SUNRIDGE.calendar.start_date.weekday()
    return (first + day) % 7 in SUNRIDGE.calendar.weekend_days


def fixed_costs(day: int) -> int:
    """Dollars of base pay, on-call pay and overhead of a day."""
    pay = SUNRIDGE.pay
    all_wages = sum(p.wage_cents for p in SUNRIDGE.technicians)
    on_call = sum(p.wage_cents for p in SUNRIDGE.technicians if p.on_call)
    if is_weekend(day):
        hours = (pay.on_call_weekend_until - pay.on_call_weekend_from) // HOUR
        cents = on_call * hours + pay.overhead_cents
    else:
        hours = (pay.on_call_weekday_until - pay.shift_until) // HOUR
        cents = all_wages * pay.hours_per_weekday + on_call * hours + pay.overhead_cents
    assert cents % 100 == 0
    return cents // 100


def test_a_weekday_costs_2916_dollars() -> None:
    # (36 + 40 + 37 + 39) x 10 = 1,520; (36 + 37) x 2 = 146
    assert fixed_costs(0) == 1_520 + 146 + 1_250 == 2_916


def test_a_weekend_day_costs_2126_dollars() -> None:
    # (36 + 37) x 12 = 876
    assert fixed_costs(2) == 876 + 1_250 == 2_126


def test_fourteen_days_cost_37664_dollars() -> None:
    assert sum(map(fixed_costs, range(14))) == 10 * 2_916 + 4 * 2_126 == 37_664


def test_doing_nothing_is_bankrupt_at_the_close_of_day_10_having_paid_26790_dollars() -> None:
    paid = [sum(map(fixed_costs, range(days))) for days in range(15)]
    assert SUNRIDGE.pay.starting_cash_cents == 25_000 * 100  # more than 24,664, less than 26,790
    # 7 weekdays and 3 weekend days: 7 x 2,916 + 3 x 2,126
    assert paid[9] == 24_664
    assert paid[10] == 26_790


def test_off_hours_work_bills_a_quarter_more_and_pays_the_technician_a_quarter() -> None:
    assert SUNRIDGE.pay.off_hours_premium == SUNRIDGE.pay.off_hours_share == Decimal("0.25")


def test_overtime_is_paid_at_the_wage_up_to_a_fifth_of_the_invoice() -> None:
    pay = SUNRIDGE.pay
    assert (pay.overtime_multiple, pay.overtime_cap) == (Decimal(1), Decimal("0.2"))
    assert (pay.shift_from, pay.shift_until) == (7 * HOUR, 17 * HOUR)
    assert pay.on_call_weekday_until == pay.on_call_weekend_until == 19 * HOUR


def test_jobs_take_as_long_as_the_handbook_says() -> None:
    minutes = {s.label: (s.shortest_s, s.typical_s, s.longest_s) for s in SUNRIDGE.services}
    assert minutes == {
        "HVAC service": (45 * 60, 75 * 60, 3 * HOUR),
        "HVAC installation": (2 * HOUR, 5 * HOUR, 8 * HOUR),
        "Plumbing": (45 * 60, 75 * 60, 3 * HOUR),
        "Electrical": (45 * 60, 90 * 60, 210 * 60),
    }
    assert SUNRIDGE.visits.failed_s == 30 * 60


def test_residential_hvac_service_bills_150_300_500_with_15_to_25_percent_material() -> None:
    hvac = SUNRIDGE.services[0]
    assert hvac.key == "hvac_service"
    assert hvac.prices["residential"] == (15_000, 30_000, 50_000)
    assert (hvac.material_low, hvac.material_high) == (Decimal("0.15"), Decimal("0.25"))


def test_an_installation_bills_4500_to_15000_dollars() -> None:
    (installation,) = (s for s in SUNRIDGE.services if s.installation)
    prices = [price for row in installation.prices.values() for price in row]
    assert (min(prices), max(prices)) == (4_500 * 100, 15_000 * 100)


def test_urgent_callers_accept_100_15_and_5_percent() -> None:
    accept = SUNRIDGE.acceptance
    chances = (accept.urgent_same_day, accept.urgent_next_day, accept.urgent_later)
    assert chances == (Decimal(1), Decimal("0.15"), Decimal("0.05"))


def test_a_routine_caller_accepts_90_percent_at_once_57_at_three_days_31_at_seven() -> None:
    accept = SUNRIDGE.acceptance
    percent = [
        round(100 * accept.routine_start * (-accept.routine_decay_per_day * days).exp())
        for days in (0, 3, 7)
    ]
    assert percent == [90, 57, 31]
    assert accept.routine_floor == Decimal("0.25")


def test_an_installation_window_from_15_00_on_halves_the_chance() -> None:
    accept = SUNRIDGE.acceptance
    assert accept.late_installation_from == 15 * HOUR
    assert accept.late_installation_factor == Decimal("0.5")


def test_a_residential_job_a_week_out_is_cancelled_14_percent_of_the_time_and_20_in_a_storm() -> (
    None
):
    bases = {who.key: who.cancel_base for who in SUNRIDGE.customers}
    expected = {"residential": "0.08", "apartment": "0.06", "commercial": "0.05"}
    assert bases == {key: Decimal(base) for key, base in expected.items()}
    cancel = SUNRIDGE.cancellation
    chance = bases["residential"] + 7 * cancel.slope_per_day
    assert cancel.storm_factor == Decimal("1.4")
    assert (round(100 * chance), round(100 * chance * cancel.storm_factor)) == (14, 20)
    assert cancel.notice_s == HOUR


def test_demand_starts_at_18_calls_and_never_exceeds_30() -> None:
    demand = SUNRIDGE.demand
    assert (demand.start, demand.cap) == (18, 30)
    assert (demand.weekend_share, demand.weekend_floor) == (Decimal("0.7"), 10)
    assert (demand.other_min, demand.other_max) == (2, 5)
    assert list(demand.installations) == [0, 1, 2]
    assert demand.book_share == Decimal("0.25")


def test_a_job_on_time_adds_a_little_and_a_miss_cuts_sharply() -> None:
    assert 0 < SUNRIDGE.demand.gain < 1 < SUNRIDGE.demand.loss


def test_weather_stretches_a_drive_as_the_report_says() -> None:
    assert dict(SUNRIDGE.driving.weather_factor) == {
        "clear": 1,
        "cool": 1,
        "hot": Decimal("1.02"),
        "extreme_heat": Decimal("1.08"),
        "wind": Decimal("1.05"),
        "rain": Decimal("1.15"),
        "storm": Decimal("1.4"),
    }


def test_the_oracle_reckons_with_1_3_40_km_an_hour_the_0_65_quantile_and_40_minutes() -> None:
    estimate = SUNRIDGE.estimate
    assert (estimate.circuity, estimate.speed_kmh) == (Decimal("1.3"), Decimal(40))
    assert (estimate.quantile, estimate.margin_s) == (Decimal("0.65"), 40 * 60)


def test_daily_highs_average_87_and_peak_in_summer() -> None:
    highs = SUNRIDGE.weather.normal_high
    assert round(sum(highs) / 12) == 87
    assert highs.index(max(highs)) == 6  # July
    assert SUNRIDGE.weather.forecast_days == 7


def test_storms_are_rare_outside_the_monsoon() -> None:
    weather = SUNRIDGE.weather
    storms = [days * weather.zone_hit["storm"] for days in weather.storm_days]
    assert max(storms[:6] + storms[9:]) < Decimal("1.5") < min(storms[6:8])
    assert 22 <= sum(storms) <= 24  # thunder days a year at one place


def test_anomalies_spread_as_measured_in_phoenix() -> None:
    # Standard deviation 6.9 over the year, 4 to 5.5 from June to October.
    weather = SUNRIDGE.weather
    pairs = zip(weather.region_sd, weather.zone_sd, strict=True)
    variances = [region**2 + zone**2 for region, zone in pairs]
    assert abs((sum(variances, Decimal(0)) / 12).sqrt() - Decimal("6.9")) < Decimal("0.1")
    assert all(4 <= variance.sqrt() <= Decimal("5.6") for variance in variances[5:10])


def test_heat_brings_hvac_calls_and_storms_electrical_and_plumbing_ones() -> None:
    tilt = SUNRIDGE.demand.trade_tilt
    assert tilt["extreme_heat"]["hvac_service"] > tilt["hot"]["hvac_service"] > 1
    assert min(tilt["storm"]["electrical"], tilt["storm"]["plumbing"]) > 1
    assert tilt["storm"]["hvac_service"] < 1


def test_ten_zones_share_the_demand() -> None:
    assert len(SUNRIDGE.demand.zone_share) == 10
    assert sum(SUNRIDGE.demand.zone_share.values()) == 1


def test_the_days_with_installations_fit_their_table() -> None:
    cuts = layout.PARAMS["installations_cut"].shape[0]
    assert cuts == schema.MAX_INSTALLATIONS + 1


def test_conditions_and_customer_types_stand_in_the_order_of_engine_and_maps() -> None:
    assert [c.name.lower() for c in codes.Condition] == list(SUNRIDGE.weather.conditions)
    assert [k.name.lower() for k in AddressKind] == [who.key for who in SUNRIDGE.customers]
    assert list(SUNRIDGE.driving.weather_factor) == list(SUNRIDGE.weather.conditions)
