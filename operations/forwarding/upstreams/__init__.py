"""Where requests are forwarded to: a project's providers, their keys, and the connections.

`addresses` decides which addresses may be dialled, `dialing` dials them, `sealing` encrypts keys.
"""
