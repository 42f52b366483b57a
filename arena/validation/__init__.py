"""Whether a bot that was sent in may play: from its folder or archive to a verdict.

First it is looked at, then what it needs is made, then the conformance kit plays it, and then it
plays matches with itself. Behind ``arena bot check`` and the ladder alike, so that an author hears
at home what the ladder would say.
"""
