"""loguru: a handler added for each job and never removed. The control removes it, as its documentation has it."""
from beside import Beside
from loguru import logger

beside = Beside()
warm_up = 25  # steps of 50 requests: the window of timings is replaced twice
removes = False


def prepare(mode):
    global removes
    removes = mode == "control"
    logger.remove()
    run(3)


def run_job(number, lines):
    handler = logger.add(lines.append, format="{message}", filter=lambda record: record["extra"].get("job") == number)
    logger.bind(job=number).info("done")
    if removes:
        logger.remove(handler)


def run(number):
    for _ in range(number):
        run_job(beside.random.getrandbits(48), [])
        for _ in range(5):
            beside.request()
