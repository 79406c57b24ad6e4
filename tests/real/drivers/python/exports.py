"""ujson: an export to a client that has gone away; the write fails."""
import ujson
from beside import Beside

beside = Beside()


class Client:
    """A connection of which each second write fails."""

    def __init__(self):
        self.writes = 0

    def write(self, text):
        self.writes += 1
        if self.writes % 2:
            raise ConnectionResetError("gone away")


client = Client()


def prepare(_mode):
    run(5)


def export(rows):
    try:
        ujson.dump(rows, client)
    except ConnectionResetError:
        return False
    return True


def run(number):
    for _ in range(number):
        export([{"id": i, "page": beside.request()} for i in range(beside.random.randint(2, 8))])
