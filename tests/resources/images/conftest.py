from collections.abc import Iterator

import pytest

from tests.resources.images.upload_double import UploadDouble, serving_uploads


@pytest.fixture
def uploads() -> Iterator[UploadDouble]:
    with serving_uploads() as uploads:
        yield uploads
