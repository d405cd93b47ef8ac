"""Tools of ours in a client's own requests: offered, and their calls answered here.

`offering` adds them to a request, `answering` calls them and asks the provider again, `rounds`
keeps what the client was not told, and a file a form says how each provider writes it.
"""
