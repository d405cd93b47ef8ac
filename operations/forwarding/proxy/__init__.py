"""The proxy: a client's own requests, forwarded with the session's operations applied.

`application` is the way in, before Django; `routes` and `bodies` read a request, `preparing`
rewrites it, `relay` sends it and passes the reply on, `replies/` reads that reply as it goes by,
and `recording` keeps it. What a request only names, `references/` tells.
"""
