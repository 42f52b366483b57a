"""The referee: tables that judge, and what carries their messages to bots.

The table and its clock are pure: stamped input in, messages out. Around them stands the shell that
waits: the bridge to gRPC, the lobby where bots take their seats, and the host that plays tables
over their sessions.
"""
