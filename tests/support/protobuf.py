"""Protocol buffers as bytes, for tests that write profile.proto by hand."""
import functools


@functools.lru_cache(1 << 16)
def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, payload):
    """A number as a varint; text or bytes with their length."""
    if isinstance(payload, int):
        return varint(number << 3) + varint(payload)
    if isinstance(payload, str):
        payload = payload.encode("utf-8", "surrogateescape")
    return varint(number << 3 | 2) + varint(len(payload)) + payload
