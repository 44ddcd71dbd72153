"""Code generation: the typed IR becomes views of plain strings, and Jinja templates print them as a Triton module."""
