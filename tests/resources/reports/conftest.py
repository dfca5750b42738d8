"""What the tests of reports share."""

from typing import Any

import pytest

from resources.images.store import ImageStore
from tests.resources.reports.report_rows import report_data


@pytest.fixture
def data(store: ImageStore) -> dict[str, Any]:
    return report_data(store)
