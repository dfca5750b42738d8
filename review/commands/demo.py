"""`demo`: the review app over the queue of the demo, with accounts and their sign-in links.

What belongs here: what the demo has and a real round has not: samples of the kinds that its data lacks,
and three people. The queue is offered once, before the server starts; the app opens no warehouse.
"""

import argparse
import sys

from resources.home import images_path, review_path, warehouse_path
from resources.images.store import ImageStore
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from review.commands.files import read_queue
from review.commands.serve import HOST, add_port, serve
from review.samples import samples

PEOPLE = (("anna", "annotator"), ("ben", "annotator"), ("eva", "expert"))


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `demo`."""
    parser = commands.add_parser("demo", help="serve the demo's queue to three demo accounts")
    add_port(parser)
    parser.set_defaults(command=_demo)


def _demo(arguments: argparse.Namespace) -> int:
    if not warehouse_path().exists():
        print("There is nothing to review yet: run `make demo` first.", file=sys.stderr)
        return 2
    queue = read_queue()
    store, accounts = ReviewStore(review_path()), Accounts(review_path())
    image_ids = sorted({image_id for item in queue for image_id in item["image_ids"]})
    images = ImageStore(images_path())
    stored = [image_id for image_id in image_ids if images.has(image_id)]
    offered = store.offer([*samples(stored, {item["kind"] for item in queue}), *queue])
    print(f"Offered for review: {offered.new} new items, {offered.changed} changed.")
    print("Sign-in links, each good once:")
    for name, role in PEOPLE:
        account = accounts.get(name) or accounts.add(name, role)
        token = accounts.link(account.name)
        print(f"  {name} ({account.role}): http://{HOST}:{arguments.port}/link/{token}")
    return serve(store, accounts, arguments.port)
