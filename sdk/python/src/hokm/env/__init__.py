"""Environments to learn in: Hokm as PettingZoo has games, and thousands of games at once in arrays.

``hokm.env.env(seats=4)`` is the game for one learner at a time (:mod:`hokm.env.aec`), with two,
three or four seats; :mod:`hokm.env.vector` steps many games together. Both number actions as
:mod:`hokm.env.actions` has it. They need the extra ``env``: ``pip install 'hokm-sdk[env]'``.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hokm.env.aec import env, raw_env

__all__ = ["env", "raw_env"]


def __getattr__(name: str) -> object:
    # Who wants the vectorised form alone need not import PettingZoo, and the other way about.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from hokm.env import aec
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} is not installed, and the environment needs it: "
            "pip install 'hokm-sdk[env]'",
            name=error.name,
        ) from error
    return getattr(aec, name)
