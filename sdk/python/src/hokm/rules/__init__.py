"""The rules of Hokm: one core for two, three and four seats, used by the referee and by bots that
simulate.

A *variant* is a value composed of phases (:mod:`hokm.rules.phases`), a finish and a scoring
(:mod:`hokm.rules.scoring`) and a succession (:mod:`hokm.rules.variants`), built from a table's
options (:mod:`hokm.rules.options`). A :class:`~hokm.rules.deal.Deal` plays one hand of it, a
:class:`~hokm.rules.game.Game` a board or a race. Nothing here reads a clock or draws a random
number.
"""
