"""The proxy: forwards a client's own requests with the session's operations applied.

`application` is the entry point, before Django. `routes` and `bodies` read a request, `preparing`
rewrites it, `relay` sends it and passes the reply on, `replies/` reads that reply as it passes,
and `recording` records it. `references/` resolves what requests only name.
"""
