"""The environments need the extra `env`, and the SDK is tested without it as well."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("pettingzoo") else ["test_*.py"]
