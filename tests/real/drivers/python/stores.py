"""fsspec: a file system made with the token of each customer. The control asks for none of the instance cache, as its documentation has it."""
import fsspec
from beside import Beside

beside = Beside()
options = {}


def prepare(mode):
    global options
    options = {"skip_instance_cache": True} if mode == "control" else {}
    run(5)


def store_of(customer):
    return fsspec.filesystem("file", auto_mkdir=True, customer=customer, **options)


def upload(customer):
    store = store_of(customer)
    return store.exists(f"/{beside.request()[:4]}")


def run(number):
    for _ in range(number):
        upload(f"customer-{beside.random.getrandbits(48)}")
        for _ in range(5):
            beside.request()
