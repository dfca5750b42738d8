"""`demo`: the review app with the queue of the demo, three accounts and their sign-in links.

What belongs here: what only the demo has: three accounts, and samples of the kinds that its data lacks.
The queue is read from the warehouse once, before the server starts.
"""

import argparse
import sys

from resources.home import images_path, review_path, warehouse_path
from resources.images.store import ImageStore
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from review.commands.files import read_queue
from review.commands.serve import HOST, add_port, port_is_free, serve
from review.samples import samples

PEOPLE = (("anna", "annotator"), ("ben", "annotator"), ("eva", "expert"))


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `demo`."""
    parser = commands.add_parser("demo", help="serve the demo's queue with three demo accounts")
    add_port(parser)
    parser.set_defaults(command=_demo)


def _demo(arguments: argparse.Namespace) -> int:
    if not warehouse_path().exists():
        print("There is nothing to review yet: run `make demo` first.", file=sys.stderr)
        return 2
    # New links replace earlier ones, which people may be about to use.
    if not port_is_free(arguments.port):
        return 2
    queue = read_queue()
    store, accounts = ReviewStore(review_path()), Accounts(review_path())
    image_ids = sorted({image_id for item in queue for image_id in item["image_ids"]})
    images = ImageStore(images_path())
    stored = [image_id for image_id in image_ids if images.has(image_id)]
    changes = store.update_queue([*samples(stored, {item["kind"] for item in queue}), *queue])
    print(f"The review queue has {changes.new} new items and {changes.changed} changed ones.")
    print("Sign-in links, each for one use:")
    for name, role in PEOPLE:
        account = accounts.get(name) or accounts.add(name, role)
        token = accounts.link(account.name)
        print(f"  {name} ({account.role}): http://{HOST}:{arguments.port}/link/{token}")
    return serve(store, accounts, arguments.port)
