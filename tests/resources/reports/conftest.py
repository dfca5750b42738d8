"""What the tests of reports share."""

from typing import Any

import pytest

from resources.images.store import ImageStore
from tests.resources.reports.report_rows import report_data


@pytest.fixture
def data(store: ImageStore) -> dict[str, Any]:
    """The data of a report, whose pictures are stored."""
    return report_data(store)
