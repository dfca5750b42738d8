"""Names in a mirror: an image's file name counts only where no other address has it."""

import pytest

from methods.ingest.mirror_names import file_name, path_in_mirror, shared_names

EN = "https://upload.example.org/wikipedia/en/1/11/Landmark.png"
COMMONS = "https://upload.example.org/wikipedia/commons/2/22/Landmark.png"


@pytest.mark.parametrize(
    ("address", "path", "name"),
    [
        (EN, "upload.example.org/wikipedia/en/1/11/Landmark.png", "Landmark.png"),
        ("http://me:pass@Example.org:81/a%20b/%C3%A9.png#top", "example.org:81/a b/é.png", "é.png"),
        ("https://example.org/a.png?v=1", "example.org/a.png?v=1", "a.png"),
        ("https://example.org/a.png?u=/../b", "example.org/a.png?u=%2F..%2Fb", "a.png"),
        ("https://example.org/../a.png", None, "a.png"),
        ("https://example.org/%2e%2e/a.png", None, "a.png"),
        ("https://example.org/..%2Fa.png", None, None),
        ("https://example.org/a\\b.png", None, None),
        ("https://example.org/a/", None, None),
        ("https://[x/a.png", None, None),
        ("https:///a.png", None, "a.png"),
    ],
)
def test_an_address_has_a_path_and_a_name_below_the_mirror(address, path, name):
    assert (path_in_mirror(address), file_name(address)) == (path, name)


@pytest.mark.parametrize(
    ("addresses", "shared"),
    [
        ([EN, COMMONS], {"Landmark.png"}),
        ([EN, EN.replace(".org", ".net")], {"Landmark.png"}),
        ([EN, f"{EN}?v=2"], {"Landmark.png"}),
        ([EN, COMMONS.replace("Landmark", "%4Candmark")], {"Landmark.png"}),
        ([EN, EN, EN.replace("https", "http"), f"{EN}#top"], set()),
        ([EN, COMMONS.replace("Landmark", "landmark")], set()),
    ],
)
def test_a_name_is_shared_by_addresses_of_different_images(addresses, shared):
    assert shared_names(addresses) == shared
