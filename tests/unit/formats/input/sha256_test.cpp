#include "formats/input/sha256.hpp"

#include <catch2/catch.hpp>

using snapdiff::formats::Sha256;

// Values of FIPS 180-4's example documents.
TEST_CASE("sha256: published examples") {
  Sha256 hash;
  CHECK(hash.finish_hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  hash.update("abc");
  CHECK(hash.finish_hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  hash.update("abcdbcdecdefdefgefghfghighij");
  hash.update("hijkijkljklmklmnlmnomnopnopq");
  CHECK(hash.finish_hex() == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}
