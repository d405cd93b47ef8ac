"""`Map`: a persistent map; a new version shares all but the few places that it sets.

It comes from the library `immutables`, which has no wheels for Python 3.14 and newer; there a
class with the same methods replaces it (decision 0132).
"""

import sys

if sys.version_info < (3, 14):  # older Pythons
    from immutables import Map
else:  # newer Pythons
    from .trie import Map

__all__ = ["Map"]
