"""Who is on the line: name, phone and address of a caller, by the identity of the call.

Names are put together from common given and family names; phone numbers lie in the exchange 555. A
customer of the starting book has the same name and number whenever he calls. Public: a prompt may
show all of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from tradesbench_gym.company.simulation import Simulation
from tradesbench_gym.core import draws
from tradesbench_gym.roads import Address


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


GIVEN_NAMES = _names(
    """
    Aaron Abigail Adrian Alice Amber Andrea Angela Anthony Barbara Benjamin Brandon Brenda
    Brian Carlos Carol Catherine Charles Cynthia Daniel David Deborah Dennis Dylan Edward
    Elena Emily Eric Ethan Frank Gabriel George Gloria Grace Hannah Heather Helen Henry
    Isabel Jacob James Janet Jason Jennifer Jesse John Jorge Joseph Joyce Julia Justin Karen
    Keith Kevin Larry Laura Linda Lucas Maria Martha Matthew Megan Nathan Olivia Patrick
    Paul Rachel Raymond Rosa Ryan Samuel Sandra Sharon Stephen Susan Teresa Thomas Victor
    Walter Wayne Zoe
    """
)
FAMILY_NAMES = _names(
    """
    Adams Aguilar Allen Alvarez Anderson Bailey Baker Begay Bennett Brooks Brown Campbell
    Carter Castillo Chavez Clark Collins Cook Cooper Cox Cruz Davis Delgado Diaz Edwards
    Evans Fisher Flores Foster Garcia Gomez Gonzales Gray Green Gutierrez Hall Harris
    Hernandez Hill Howard Hughes Jackson Jenkins Johnson Jones Kelly Kim King Lee Lewis
    Lopez Martin Martinez Medina Mendoza Miller Mitchell Moore Morales Morgan Morris Murphy
    Myers Nelson Nguyen Ortiz Parker Patel Perez Peterson Phillips Powell Price Ramirez Reed
    Reyes Rivera Roberts Robinson Rogers Romero Ross Ruiz Russell Sanchez Sanders Scott
    Silva Smith Soto Stewart Sullivan Taylor Thomas Thompson Torres Tsosie Turner Vargas
    Walker Ward Watson White Williams Wilson Wood Wright Yazzie Young
    """
)
_AREA_CODES = (480, 602, 623)
_LINES = 10_000


@dataclass(frozen=True)
class Caller:
    """Name, phone and address of whoever called."""

    name: str
    phone: str
    address: Address


def caller_of(simulation: Simulation, number: int) -> Caller:
    """The caller of a call that has rung; `number` counts from 1.

    Raises:
        IndexError: no such call has rung yet.

    """
    run = simulation.record
    if not 1 <= number <= int(run["n_calls"]):
        raise IndexError(f"call {number} has not rung")
    call = run["calls"][number - 1]
    event, identity = (
        draws.Event.CALLER,
        [int(call[key]) for key in ("from_day", "stream", "from_index")],
    )
    if call["book"] >= 0:
        event, identity = draws.Event.BOOK_CALLER, [int(call["book"]), 0, 0]
    given, family, phone, _ = draws.words(run["seed"], run["salt"], int(event), *identity)
    line = int(draws.below(phone, len(_AREA_CODES) * _LINES))
    return Caller(
        name=f"{GIVEN_NAMES[draws.below(given, len(GIVEN_NAMES))]} "
        f"{FAMILY_NAMES[draws.below(family, len(FAMILY_NAMES))]}",
        phone=f"({_AREA_CODES[line // _LINES]}) 555-{line % _LINES:04}",
        address=simulation.business.roadmap.address(int(call["address"])),
    )
