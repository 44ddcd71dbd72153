"""The front end: source text in, `ast.Module` out. `parse.parse` is what other layers call; `ast` is what they read."""
