"""Checks of single hands: every seat and hakem, every card, suits that somebody is void in, early
ends, and what an option of the rules changes.
"""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial

from arena.conformance.decks import deck_of, suit_cards
from arena.conformance.script import Check, Script
from arena.conformance.tables import (
    ScriptedGame,
    at_random,
    evenly,
    keeping,
    naming,
    strongest,
)
from arena.conformance.unmet import Unmet
from hokm.actions import ChooseDraw, DeclareTrump, Draw, PlayCard
from hokm.cards import Card, Rank, Seat, Suit, Trump
from hokm.outcome import Ending
from hokm.rules.options import Rules
from hokm.rules.variants import variant_of

WORDS = {4: "four", 3: "three", 2: "two"}
MODES = (Trump.SAR, Trump.NAR, Trump.TAK_NAR)
ALL_MODES = "suit,sar,nar,tak_nar"


# -- at any table


async def _seats(script: Script) -> None:
    """Every seat with every hakem."""
    rules = script.rules()
    places = [(seat, hakem) for seat in range(rules.players) for hakem in range(rules.players)]
    await script.play_match(
        rules, lambda rules: [script.board(rules, seat=seat, hakem=hakem) for seat, hakem in places]
    )


async def _every_card(script: Script) -> None:
    """Hands that hold what the bot has not played yet, until it has played every card."""
    rules = script.rules() if script.players == 3 else script.rules(play_out="on")
    pack = variant_of(rules).pack
    played: set[Card] = set()
    most = 16
    script.talk.say(script.match_start(rules, games=most))
    for number in range(most):
        wanted = [card for card in pack if card not in played]
        if not wanted:
            break
        seat, hakem = Seat(number % rules.players), Seat((number + 1) % rules.players)
        stock = [one for card in wanted[5:] for one in (card, None)]
        deck = deck_of(
            rules,
            script.chance,
            hakem=hakem,
            hands={seat: wanted if script.players != 2 else wanted[:5]},
            stock=stock[: variant_of(rules).stock] if script.players == 2 else (),
        )
        game = script.board(rules, seat=seat, hakem=hakem, deck=deck)
        await script.play(game)
        played |= {action.card for action in game.actions if isinstance(action, PlayCard)}
    await script.end_match()


async def _modes(script: Script) -> None:
    """Every mode, named by another and open to the bot."""
    rules = script.rules(modes=ALL_MODES)
    other = 1

    def games(rules: Rules) -> Iterator[ScriptedGame]:
        for mode in MODES:
            others = naming(mode, at_random(script.chance))
            for seat in range(rules.players):
                if seat != other:
                    yield script.board(rules, seat=seat, hakem=other, others=others)
        yield from _low_hands(script, rules)

    await script.play_match(rules, games)
    for modes in ("suit", "suit,sar", "suit,tak_nar"):
        rules = script.rules(modes=modes)
        await script.play_match(rules, partial(_low_hands, script))


def _low_hands(script: Script, rules: Rules) -> Iterator[ScriptedGame]:
    """A hakem with five low cards, which are for nar where it may be named."""
    low = [Card.of(suit, rank) for rank in (Rank.TWO, Rank.THREE) for suit in Suit]
    for seat in (Seat(0), Seat(1)):
        deck = deck_of(rules, script.chance, hakem=seat, hands={seat: low[-5:]})
        yield script.board(rules, seat=seat, hakem=seat, deck=deck)


async def _void(script: Script) -> None:
    """Long suits, so that the bot is void in most that is led, and others in what it leads."""
    rules = script.rules()

    def games(rules: Rules) -> Iterator[ScriptedGame]:
        for suit in Suit:
            for seat in range(rules.players):
                hands = {Seat(seat): [c for c in suit_cards(suit) if c in variant_of(rules).pack]}
                if script.players == 2:
                    stock = [card for card in hands[Seat(seat)][5:] for card in (card, card)]
                    deck = deck_of(
                        rules,
                        script.chance,
                        hakem=Seat(0),
                        hands={Seat(seat): hands[Seat(seat)][:5]},
                        stock=_once(stock),
                    )
                else:
                    deck = deck_of(rules, script.chance, hakem=Seat(0), hands=hands)
                others = naming(Trump((suit + 1) % 4), at_random(script.chance))
                yield script.board(rules, seat=seat, deck=deck, others=others)

    await script.play_match(rules, games)


def _once(cards: list[Card]) -> list[Card | None]:
    """Every second card, with any between them."""
    return [card if place % 2 == 0 else None for place, card in enumerate(cards)]


async def _forced(script: Script) -> None:
    """Hands in which one card is legal, over and over: one of each suit besides a long one."""
    rules = script.rules()

    def games(rules: Rules) -> Iterator[ScriptedGame]:
        for long in Suit:
            seat = Seat((long + 1) % rules.players)
            shorts = [Card.of(suit, Rank(4 + suit)) for suit in Suit if suit is not long]
            hand = [*shorts, *suit_cards(long)]
            deck = deck_of(
                rules,
                script.chance,
                hakem=Seat(0),
                hands={seat: [card for card in hand if card in variant_of(rules).pack]},
            )
            yield script.board(rules, seat=seat, deck=deck, others=strongest)

    await script.play_match(rules, games)


async def _sweep(script: Script) -> None:
    """Seven tricks to none, for the hakem and against."""
    rules = script.rules()
    variant = variant_of(rules)

    def games(rules: Rules) -> Iterator[ScriptedGame]:
        for suit in Suit:
            trumps = [card for card in suit_cards(suit) if card in variant.pack]
            aces = [Card.of(one, Rank.ACE) for one in Suit if one is not suit]
            others = naming(Trump(suit), keeping(strongest))
            for hakem in (0, 1):
                bot = 2 if rules.players > 2 else 1 - hakem
                swept = 0 if rules.players > 2 else hakem
                if rules.players == 2:
                    low = [Card.of(Suit((suit + 1) % 4), Rank(place)) for place in range(3)]
                    hands = {Seat(swept): [*trumps[:2], *low]}
                    stock = [card for one in trumps[2:] for card in (one, None, None, None)]
                    deck = deck_of(
                        rules, script.chance, hakem=Seat(hakem), hands=hands, stock=stock[:42]
                    )
                else:
                    hands = {Seat(swept): [*trumps, *aces]}
                    deck = deck_of(rules, script.chance, hakem=Seat(hakem), hands=hands)
                yield script.board(rules, seat=bot, hakem=hakem, deck=deck, others=others)

    await script.play_match(rules, games)


async def _last_trick(script: Script) -> None:
    """Hands that go to their last trick."""
    rules = script.rules()
    most, last = 12, 17 if script.players == 3 else 13
    script.talk.say(script.match_start(rules, games=most))
    reached = 0
    for number in range(most):
        game = script.board(
            rules,
            seat=number % rules.players,
            hakem=number // 2 % rules.players,
            others=keeping(evenly),
        )
        await script.play(game)
        reached += len(game.game.deal.taken) == last
        if reached == 2:
            break
    await script.end_match()


async def _pauses(script: Script) -> None:
    """Who holds five cards while trump is named."""
    pauses = ["hakem", "first_round", *(["right_opponent"] if script.players == 4 else [])]
    for pause in pauses:
        rules = script.rules(pause_after=pause)
        await script.play_match(
            rules,
            lambda rules: [
                script.board(rules, seat=seat, hakem=1) for seat in range(rules.players)
            ],
        )


async def _play_out(script: Script) -> None:
    """All thirteen tricks although the hand is decided."""
    rules = script.rules(play_out="on")
    await script.play_match(
        rules,
        lambda rules: [
            script.board(rules, seat=seat, hakem=1, others=keeping(strongest))
            for seat in range(rules.players)
        ],
    )


# -- at a table of three


async def _removed_two(script: Script) -> None:
    for suit in "CDHS":
        rules = script.rules(removed_two=suit)
        await script.play_match(
            rules,
            lambda rules: [script.board(rules, seat=seat, hakem=2) for seat in range(3)],
        )


# -- at a table of two


async def _secret_draws(script: Script) -> None:
    rules = script.rules(draw_choice_public="off")
    await script.play_match(
        rules,
        lambda rules: [
            script.board(rules, seat=seat, hakem=hakem) for seat in (0, 1) for hakem in (0, 1)
        ],
    )


async def _keep_and_refuse(script: Script) -> None:
    """The highest trumps are offered and the lowest of other suits, in turn. Whoever lets every
    trump go and keeps every low card means the other.
    """
    rules = script.rules()
    trumps = suit_cards(Suit.HEARTS)
    low = [Card.of(suit, rank) for rank in (Rank.TWO, Rank.THREE) for suit in Suit]
    low = [card for card in low if card.suit is not Suit.HEARTS]
    offers = [card for pair in zip(trumps[:5], low[:5], strict=True) for card in pair]
    stock: list[Card | None] = []
    for card in offers:  # a turn of the hakem, then one of the bot
        stock += [None, None, card, None]
    others = naming(Trump.HEARTS, at_random(script.chance))
    script.talk.say(script.match_start(rules, games=1))
    deck = deck_of(rules, script.chance, hakem=Seat(0), hands={}, stock=stock)
    game = script.board(rules, seat=1, deck=deck, others=others)
    await script.play(game)
    kept = [action.choice is Draw.KEEP for action in game.actions if isinstance(action, ChooseDraw)]
    is_high = [card.suit is Suit.HEARTS for card in offers]
    if all(keep is not high for keep, high in zip(kept, is_high, strict=True)):
        raise Unmet(
            "with hearts as trump it refused A K Q J T of hearts, each when it was offered, and "
            "kept every two and three of other suits",
            expected="some other choice: keep and refuse seem to be the wrong way round",
        )
    await script.end_match()


# -- what the bot names


async def _suits(script: Script) -> None:
    """Five cards of one suit, each suit three times. Whoever names another suit for each, always
    the same, has its suits mixed up; whoever always names one has not.
    """
    rules = script.rules()
    named: dict[Suit, set[Trump]] = {suit: set() for suit in Suit}
    script.talk.say(script.match_start(rules, games=13))
    for _ in range(3):
        for suit in Suit:
            hands = {Seat(0): script.chance.shuffled(suit_cards(suit)[:5])}
            deck = deck_of(rules, script.chance, hakem=Seat(0), hands=hands)
            game = script.board(rules, seat=0, deck=deck)
            script.talk.say(game.start(), game.next())
            await script.take(game)
            (action,) = game.actions
            assert isinstance(action, DeclareTrump)
            named[suit].add(action.trump)
            script.talk.say(game.fault(Ending.CRASH, seat=Seat(1)))
    always = {suit: trumps.pop() for suit, trumps in named.items() if len(trumps) == 1}
    is_one_to_one = len(always) == 4 and set(always.values()) == set(list(Trump)[:4])
    if is_one_to_one and any(int(suit) != int(trump) for suit, trump in always.items()):
        what = ", ".join(f"{s.name.lower()}: {t.name.lower()}" for s, t in always.items())
        raise Unmet(
            f"with five cards of one suit, A K Q J T, it names ({what}), each time",
            expected="the suit that it holds: its suits seem to be mixed up",
        )
    await script.play(script.board(rules, seat=0))
    await script.end_match()


def _for_each(
    name: str,
    meaning: str,
    reference: str,
    run: Callable[[Script], Awaitable[None]],
    *,
    tables: tuple[int, ...] = (4, 3, 2),
) -> list[Check]:
    return [
        Check(f"{WORDS[players]}-{name}", meaning, reference, run, players=players)
        for players in tables
    ]


HANDS = (
    *_for_each("seats", "It plays every seat, with every hakem.", "rulebook 1.2", _seats),
    *_for_each(
        "void", "Void in the suit that was led, any card may be played.", "rulebook 1.4", _void
    ),
    *_for_each("forced", "Where one card is legal, it plays that.", "rulebook 1.4", _forced),
    *_for_each("every-card", "It reads and plays every card.", "rulebook 1.1", _every_card),
    *_for_each("sweep", "Seven tricks to none end a hand early.", "rulebook 1.6", _sweep),
    *_for_each("last-trick", "A hand may go to its last trick.", "rulebook 2.5", _last_trick),
    *_for_each(
        "modes",
        "It plays in sar, nar and tak_nar, and names what the table allows.",
        "rulebook 5",
        _modes,
    ),
    *_for_each(
        "pauses",
        "Trump is named whoever holds five cards by then.",
        "rulebook 2.3",
        _pauses,
        tables=(4, 3),
    ),
    *_for_each(
        "play-out",
        "With play_out a hand goes on when it is decided.",
        "rulebook 2.5",
        _play_out,
        tables=(4, 2),
    ),
    *_for_each(
        "removed-two", "Any two may be taken out.", "rulebook 3.1", _removed_two, tables=(3,)
    ),
    *_for_each(
        "secret-draws",
        "What the other kept may be secret.",
        "rulebook 4.7",
        _secret_draws,
        tables=(2,),
    ),
    *_for_each(
        "keep-or-refuse",
        "It does not keep what it means to refuse.",
        "rulebook 4.3",
        _keep_and_refuse,
        tables=(2,),
    ),
    Check("suits", "It does not name another suit than it means.", "rulebook 2.4", _suits),
)
