"""Keys and sign-in tokens: how they are drawn, and the digests that alone are stored.

Each purpose derives a key of its own from SECRET_KEY, so that a digest of one purpose proves
nothing for another. The secrets are long and random, so that one HMAC is enough and looking a
row up by its digest tells an attacker nothing.
"""

import secrets
import string

from django.utils.crypto import salted_hmac

KEY_START = "cs_"

_ALPHABET = string.ascii_letters + string.digits
_ID_LENGTH = 8
_SECRET_LENGTH = 40


def draw_key() -> tuple[str, str]:
    """A new API key, `cs_<id>_<secret>`, and the part of it that may be shown later."""

    def draw(length: int) -> str:
        return "".join(secrets.choice(_ALPHABET) for _ in range(length))

    prefix = f"{KEY_START}{draw(_ID_LENGTH)}"
    return f"{prefix}_{draw(_SECRET_LENGTH)}", prefix


def key_digest(key: str) -> str:
    """The hex HMAC-SHA256 under which a key is stored."""
    return salted_hmac("contextstudio.api-key", key, algorithm="sha256").hexdigest()


def token_digest(token: str) -> str:
    """The hex HMAC-SHA256 under which a sign-in token is stored."""
    return salted_hmac("contextstudio.sign-in", token, algorithm="sha256").hexdigest()
