"""Servers of measurements say where they are once they answer."""

import socket

import uvicorn


class Announcing(uvicorn.Server):
    """Prints its address, and some words."""

    def __init__(self, config: uvicorn.Config, words: str) -> None:
        super().__init__(config)
        self.words = words

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        print(f"http://{host}:{port} {self.words}", flush=True)
