"""A server that does nothing but answer: the bare routes that `serve.py` compares with.

It prints its address, and runs until it is killed.
"""

import sys

import uvicorn
from fastapi import FastAPI
from fastapi.responses import Response

from grbp.serve.server import Endpoint, listen

ANSWER = b'{"study": "bench", "action": "continue", "note": "%s"}' % (b"x" * 120)
"""About as many bytes as advice without its reasons has."""

app = FastAPI()


@app.get("/loop")
async def loop() -> Response:
    """Answers in the loop that reads requests."""
    return Response(ANSWER, media_type="application/json")


@app.post("/thread")
def thread(body: dict[str, int]) -> Response:
    """Answers in a thread, as routes do that write to a disk."""
    del body
    return Response(ANSWER, media_type="application/json")


if __name__ == "__main__":
    listening = listen(Endpoint(port=0))
    sys.stdout.write(f"http://127.0.0.1:{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    config = uvicorn.Config(app, log_config=None, access_log=False)
    uvicorn.Server(config).run(sockets=[listening])
