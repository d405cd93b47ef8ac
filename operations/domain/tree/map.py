"""`Map`: a map of which a new version shares all but the few places that it sets.

That of the library `immutables`, which has no wheels for Python 3.14 and newer; there one
with the same methods stands in for it (decision 0132).
"""

import sys

if sys.version_info < (3, 14):  # older Pythons
    from immutables import Map
else:  # newer Pythons
    from .trie import Map

__all__ = ["Map"]
