"""asgiref: one Local of the process, used by each request's own task."""
import asyncio

from asgiref.local import Local
from beside import Beside

beside = Beside()
current = Local()


def prepare(_mode):
    asyncio.run(serve())


async def serve():
    current.user = beside.random.randint(1, 900)
    beside.request()


async def requests(number):
    for _ in range(number):
        await asyncio.create_task(serve())


def run(number):
    asyncio.run(requests(number))
