"""Where requests are forwarded to: a project's providers, their keys, and the way to them.

`addresses` says which addresses may be dialled, `dialing` dials them, `sealing` keeps keys.
"""
