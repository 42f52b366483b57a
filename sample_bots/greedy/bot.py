"""Takes every trick it can, as cheaply as it can, and looks no further."""

from hokm import Bot, Card, View, run


class Greedy(Bot):
    """Leads its highest card; takes with the weakest card that will, else throws its lowest."""

    def play(self, view: View) -> Card:
        if not view.trick:
            return max(view.playable, key=view.height)
        cards = sorted(view.playable, key=lambda c: (c.suit == view.trump_suit, view.height(c)))
        taking = [card for card in cards if view.takes(card)]
        return (taking or cards)[0]


if __name__ == "__main__":
    run(Greedy)
