"""What is wrong with a ladder, told in one line to whoever runs it."""

from pathlib import Path


class LadderError(Exception):
    """A ladder that cannot do what was asked: where, what is wrong, what to do next."""

    def __init__(self, where: Path | str, problem: str, *, remedy: str) -> None:
        super().__init__(f"{where}: {problem}; {remedy}")


class NameTakenError(LadderError):
    """A bot whose name, or name and version, another bot of the ladder has."""
