"""The files of a batch's requests, one request a line.

What belongs here: the lines, how many of them a file holds, and which requests cannot be sent.
Submitting the files is `batches.py`; the files that come back are read by `batch_results.py`.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Literal

from resources.images.store import ImageNotStored, ImageStore
from resources.llm.ledger.batch_state import Lost
from resources.llm.model_spec import ModelSpec
from resources.llm.request_body import RequestTooLarge, encoded_body
from resources.llm.request_keys import KeyedRequest

ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"


def files_of(
    wanted: Sequence[KeyedRequest],
    spec: ModelSpec,
    images: ImageStore,
    most_requests: int,
    most_bytes: int,
) -> Iterator[list[tuple[KeyedRequest, bytes | Lost]]]:
    """The lines of each file, as many as it may hold.

    A request that cannot be sent has its loss in place of a line.
    """
    file: list[tuple[KeyedRequest, bytes | Lost]] = []
    n_bytes = 0
    for each in wanted:
        line = _line(each, spec, images)
        size = len(line) if isinstance(line, bytes) else 0
        if file and (len(file) == most_requests or n_bytes + size > most_bytes):
            yield file
            file, n_bytes = [], 0
        file.append((each, line))
        n_bytes += size
    if file:
        yield file


def _line(asked: KeyedRequest, spec: ModelSpec, images: ImageStore) -> bytes | Lost:
    try:
        body = encoded_body(asked.request, spec, images)
    except ImageNotStored as error:
        return Lost(asked.key, "no_image", str(error), again=False)
    except RequestTooLarge as error:
        return Lost(asked.key, "too_long", str(error), again=False)
    row = json.dumps({"custom_id": asked.key, "method": "POST", "url": ENDPOINT})
    return b'%b, "body": %b}\n' % (row.removesuffix("}").encode(), body)
