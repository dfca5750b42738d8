"""An import of a file with broken images: nothing of it, or what is whole and a card that counts."""

import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from assets.release.published import ReleaseImportRequest, import_published
from methods.release_card import card_of, facts
from resources.images.store import ImageStore
from resources.importing.published_files import PublishedFileError
from resources.publishing.releases import cards_of
from resources.warehouse import Warehouse


def test_broken_images_refuse_a_file_or_are_counted_on_the_card(tmp_path: Path) -> None:
    data = io.BytesIO()
    Image.effect_noise((64, 48), 60).save(data, "PNG")
    images = (data.getvalue(), data.getvalue()[:300], b"<html>" * 20)
    cells = ["data:image/png;base64," + base64.b64encode(image).decode() for image in images]
    rows = "".join(
        f"{number}.0\tWhich?\tcat\tdog\tA\t{cell}\n"
        for number, cell in enumerate([*cells, ""], start=1)
    )
    file = tmp_path / "dev.tsv"
    file.write_text(f"index\tquestion\tA\tB\tanswer\timage\n{rows}")
    warehouse = Warehouse(tmp_path / "home" / "warehouse.duckdb")
    store = ImageStore(tmp_path / "home" / "images")

    with pytest.raises(PublishedFileError, match=r"images of 3 records .* '2': .* '3': .* '4': "):
        import_published(warehouse, store, ReleaseImportRequest("mmbench", file))
    assert warehouse.count("release.releases") == 0

    release_id = import_published(
        warehouse, store, ReleaseImportRequest("mmbench", file, skip_broken=True)
    )
    (card,) = cards_of(warehouse, [release_id])
    assert card["n_items"] == 1
    assert dict(facts(card_of(card)))["Items left out for a broken image"] == (
        "missing 1, not_an_image 1, truncated 1"
    )
