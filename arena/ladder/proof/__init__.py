"""Proof that the deals of an event were nobody's choice, and that no result of it is left out.

:mod:`~arena.ladder.proof.document` is what is published of an event, beside its records;
:mod:`~arena.ladder.proof.checks` judges both, without the ladder they came from. docs/fair-deals.md
says what this proves, and what it does not.
"""
