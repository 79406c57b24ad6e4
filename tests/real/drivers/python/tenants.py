"""opentelemetry-instrumentation-sqlalchemy: an engine for each tenant, disposed of after its request."""
import gc

from beside import Beside
from opentelemetry.instrumentation.sqlalchemy import SQLAlchemyInstrumentor
from sqlalchemy import create_engine, text

beside = Beside()


def prepare(_mode):
    SQLAlchemyInstrumentor().instrument()
    import sqlalchemy
    global create_engine
    create_engine = sqlalchemy.create_engine
    run(20)


def invoices_of(tenant):
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        rows = connection.execute(text("select :tenant"), {"tenant": tenant}).all()
    engine.dispose()
    return rows


def run(number):
    for _ in range(number):
        invoices_of(beside.random.getrandbits(32))
        for _ in range(5):
            beside.request()
    gc.collect()


warm_up = 35  # steps of 30 requests: the window of timings is replaced twice
