"""Offers our tools in a client's own requests, and answers their calls.

`offering` adds them to a request, `answering` calls them and queries the provider again, `rounds`
keeps what the client was not told, and one file per form knows how each provider writes it.
"""
