"""How the database of a ladder came to its present form, step by step; applied by Alembic."""
