"""The conformance kit behind ``arena bot check``: a scripted referee that plays every lawful rarity
with one bot process after another, and judges each answer by the rules.

It imports the rules, the wire and the bridge; nothing imports it but validation and the command.
"""
