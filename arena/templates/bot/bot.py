"""A bot for Hokm. Change what it plays, and see what comes of it."""

from hokm import Bot, Card, View, run


class MyBot(Bot):
    """Takes a trick as cheaply as it can, and else gives away what costs it least."""

    def play(self, view: View) -> Card:
        cheap = sorted(view.playable, key=lambda card: cost(view, card))
        taking = [card for card in cheap if view.takes(card)]
        return (taking or cheap)[0]


def cost(view: View, card: Card) -> tuple[bool, int]:
    """What it costs to give a card away: trumps most, then by height."""
    return card.suit == view.trump_suit, view.height(card)


if __name__ == "__main__":
    run(MyBot)
