"""Recorded games as a terminal program: what of them can be looked at, and the screen.

:mod:`arena.tui.reel` has the games and a place among their moments, :mod:`arena.tui.scene` what is
to be seen there; both are pure. :mod:`arena.tui.screen` shows it, and needs the extra ``tui``.
"""
