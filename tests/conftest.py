from __future__ import annotations

from hypothesis import settings

# the first call of a kernel loads or compiles it, which no deadline survives
settings.register_profile("checkers", deadline=None)
settings.load_profile("checkers")
