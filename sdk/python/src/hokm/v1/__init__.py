"""The messages and services of proto/hokm/v1, made by `make generate`: do not edit.

Only hokm.wire and arena.service.messages name what is in here.
"""
