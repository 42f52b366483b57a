"""What Alembic runs to apply the steps: on the connection it is handed, in that transaction."""

from alembic import context

# SQLite can undo a change of schema; Alembic does not count on it unless it is told.
context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
