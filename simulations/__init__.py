"""What the arena's statistics promise, tried on made-up leagues whose truth is known.

`python -m simulations NAME`. Nothing here is in a package; the tests run small ones.
"""
