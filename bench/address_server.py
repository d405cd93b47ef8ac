"""A server for measurements that prints its address once it answers."""

import os
import socket
from typing import Any

import uvicorn


class AddressPrinter(uvicorn.Server):
    """Prints its address and some further text."""

    def __init__(self, config: uvicorn.Config, words: str) -> None:
        super().__init__(config)
        self.words = words

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        print(f"http://{host}:{port} {self.words}", flush=True)


def serve(application: Any) -> None:
    """Serve an ASGI application on a free port until stopped; also prints its process id."""
    config = uvicorn.Config(
        application,
        host="127.0.0.1",
        port=0,
        log_level="warning",
        lifespan="off",
        timeout_keep_alive=3600,
    )
    AddressPrinter(config, str(os.getpid())).run()
