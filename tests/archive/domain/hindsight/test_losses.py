"""Made threads in which every reference is planted: found are exactly the losses planted."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from archive.domain.hindsight.losses import (
    LeftOut,
    Loss,
    Passage,
    hindsight,
    once_each,
)
from archive.domain.hindsight.references import ReferenceType

FORMS = (
    "src/p{}/main.py", "file{}.toml", "https://host.example/{}", "71{:04}",
    "c0ffee{:04x}", "callBack{:03}x",
)  # fmt: skip
"""One way to write the nth reference of each kind."""


def written(number: int) -> str:
    return FORMS[number % len(FORMS)].format(number)


class Planted:
    """A message: which references it holds, whether an assistant says it, what leaves it out."""

    def __init__(
        self,
        holds: frozenset[int],
        by: str,
        delay: int,
        shows: frozenset[int],
        *,
        uses: bool,
    ) -> None:
        self.holds, self.uses, self.by = holds, uses, by
        self.delay, self.shows = delay, shows & holds

    def __repr__(self) -> str:
        return repr(vars(self))


planted = st.builds(
    Planted,
    holds=st.frozensets(st.integers(0, 11), max_size=4),
    by=st.sampled_from(("", "", "o1", "o2", "o1 o3")),
    delay=st.sampled_from((1, 1, 2, 4)),
    shows=st.frozensets(st.integers(0, 11), max_size=2),
    uses=st.booleans(),
)


def words(numbers: frozenset[int]) -> str:
    return ", ".join(f"see {written(number)} there" for number in sorted(numbers))


def said(thread: Sequence[Planted]) -> list[Passage]:
    return [
        Passage(
            key=f"m{place}",
            place=place,
            texts=[words(one.holds)],
            uses=[words(one.holds)] if one.uses else (),
            left_out=[
                LeftOut(tuple(one.by.split()), place + one.delay, (words(one.shows),))
            ]
            if one.by
            else (),
        )
        for place, one in enumerate(thread)
    ]


Losses = dict[tuple[str, str], tuple[set[str], set[str]]]


def expected(thread: Sequence[Planted]) -> tuple[set[str], Losses]:
    """By the words of the definition: every use against every message before it."""
    later, losses = set[str](), Losses()
    for at, user in enumerate(thread):
        earlier = list(enumerate(thread[:at]))
        out = {n for n, one in earlier if one.by and n + one.delay <= at}
        for number in user.holds if user.uses and out else ():
            holding = {n for n, one in earlier if number in one.holds}
            missing = {n for n in holding & out if number not in thread[n].shows}
            if holding:
                later.add(written(number))
            if not missing or holding - missing:
                continue
            for n in missing:
                for operation in thread[n].by.split():
                    key = (operation, written(number))
                    left_out_in, used_in = losses.setdefault(key, (set(), set()))
                    left_out_in.add(f"m{n}")
                    used_in.add(f"m{at}")
    return later, losses


@given(st.lists(planted, max_size=14))
def test_all_planted_losses_are_found_and_no_other(thread: list[Planted]) -> None:
    found = hindsight(said(thread))
    later, losses = expected(thread)
    assert {
        (operation, loss.text): (set(loss.left_out_in), set(loss.used_in))
        for operation, lost in found.losses.items()
        for loss in lost
    } == losses
    assert found.references == len(later)
    assert found.lost == len({text for _, text in losses})


def test_a_use_says_it_again() -> None:
    thread = [
        Passage(key="m0", place=0, texts=["port 48213"], left_out=[LeftOut(("o1",))]),
        Passage(key="m1", place=1, texts=["48213"], uses=["48213"]),
        Passage(key="m2", place=2, texts=["48213"], uses=["48213"]),
    ]
    (loss,) = hindsight(thread).losses["o1"]
    assert (loss.text, loss.left_out_in, loss.used_in) == ("48213", ("m0",), ("m1",))


def test_losses_stand_in_the_order_in_which_they_were_needed() -> None:
    gone = [LeftOut(("o1",))]
    thread = [
        Passage(key="m0", place=0, texts=["48213 and 59324"], left_out=gone),
        Passage(key="m1", place=1, texts=["59324"], left_out=gone),
        Passage(key="m2", place=2, texts=["59324"], uses=["59324"]),
        Passage(key="m3", place=3, texts=["48213"], uses=["48213"]),
    ]
    assert [loss.text for loss in hindsight(thread).losses["o1"]] == ["59324", "48213"]


def test_what_another_message_of_the_operation_shows_is_not_its_loss() -> None:
    thread = [
        Passage(key="o1.0", place=0, texts=["48213"], left_out=[LeftOut(("o2",))], shown_by="o1"),
        Passage(key="m0", place=0, texts=["48213"], left_out=[LeftOut(("o2", "o1"))]),
        Passage(key="m1", place=1, texts=["48213"], uses=["48213"]),
    ]  # fmt: skip
    found = hindsight(thread)
    assert set(found.losses) == {"o2"}
    assert found.losses["o2"][0].left_out_in == ("o1.0", "m0")


def test_a_reference_that_several_operations_left_out_is_one_with_all_its_messages() -> (
    None
):
    number, file = ReferenceType.NUMBER, ReferenceType.FILE
    losses = [
        Loss("48213", number, ("m0", "m1"), ("m5",)),
        Loss("a.py", file, ("m1",), ("m6",)),
        Loss("48213", number, ("m1", "m2"), ("m5", "m7")),
    ]
    assert once_each(losses) == [
        Loss("48213", number, ("m0", "m1", "m2"), ("m5", "m7")),
        Loss("a.py", file, ("m1",), ("m6",)),
    ]
