"""marshmallow: a schema made for each uploaded form. The control says register = False, as its documentation advises."""
from beside import Beside
from marshmallow import Schema, fields

beside = Beside()
options = {}


def prepare(mode):
    global options
    options = {"register": False} if mode == "control" else {}
    run(5)


def schema_of(form, columns):
    Meta = type("Meta", (), options)
    return type(f"Form{form}Schema", (Schema,), {"Meta": Meta, **{c: fields.String() for c in columns}})


def upload(form):
    schema = schema_of(form, ["name", "street", "city"])()
    return schema.dump({"name": "n", "street": "s", "city": beside.request()[:20]})


def run(number):
    for _ in range(number):
        upload(beside.random.getrandbits(48))
        for _ in range(5):
            beside.request()
