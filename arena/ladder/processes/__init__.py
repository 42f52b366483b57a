"""Bots as processes: started, confined, looked at, ended."""
