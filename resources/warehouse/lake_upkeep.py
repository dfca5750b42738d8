"""Maintenance of a lake: merges small files, expires old snapshots, and removes unused files.

The snapshot of a release is kept as long as the release exists; the latest snapshot is always kept.
Each table is merged under the lock of its writers, so that merges cause no conflicts; reads continue.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from resources.warehouse.declarations import sql_text
from resources.warehouse.duckdb_file import quoted
from resources.warehouse.lake import Lake
from resources.warehouse.lake_connection import locked
from resources.warehouse.lake_database import RELEASES

REWRITTEN_FROM = 0.5
"""A file is rewritten if at least this share of its rows was deleted."""
READ_FOR = timedelta(days=1)
"""Files in no snapshot are removed after this time, since a query may still read them. They are from
expired snapshots and killed writes."""


class Upkeep(NamedTuple):
    """The result of a maintenance: numbers of snapshots and files."""

    n_ended: int
    n_kept_for_releases: int
    n_merged: int
    n_written: int
    n_removed: int

    def sentence(self) -> str:
        """Describe the result in a sentence."""
        return (
            f"{self.n_ended} old snapshots ended, {self.n_kept_for_releases} kept for releases; "
            f"{self.n_merged} files merged into {self.n_written}; {self.n_removed} files removed."
        )


def keep_up(
    lake: Lake, days: int, say: Callable[[str], None], read_for: timedelta = READ_FOR
) -> Upkeep:
    """Merge files, expire old snapshots, and remove files that no snapshot uses.

    Args:
        lake: The lake.
        days: Snapshots older than this number of days expire, except for snapshots of releases.
        say: Called with a sentence for each step.
        read_for: Time for which a reader may still need a file that no snapshot uses.

    Returns:
        The numbers of snapshots and files.
    """
    before = datetime.now(UTC) - timedelta(days=days)
    frozen = lake.snapshots_of_releases()
    released = {*lake.select(RELEASES, "release_id")["release_id"].to_pylist()}
    pinned = {frozen[release_id] for release_id in released & frozen.keys()}
    old = lake.sql(sql_text("old_snapshots"), {"before": before})["snapshot_id"].to_pylist()
    ended = sorted({*old} - pinned)
    with lake.database.transactions() as connection:
        if ended:
            connection.execute(f"CALL ducklake_expire_snapshots('warehouse', versions => {ended})")
            say(f"{len(ended)} snapshots ended.")
        n_merged = n_written = 0
        for schema, table in connection.execute(sql_text("lake_tables")).fetchall():
            with locked(lake.address, [f"{schema}.{table}"], say):
                for call in (
                    f"rewrite_data_files('warehouse', {quoted(table)}, schema => {quoted(schema)}, "
                    f"delete_threshold => {REWRITTEN_FROM})",
                    f"merge_adjacent_files('warehouse', {quoted(table)}, schema => {quoted(schema)})",
                ):
                    for *_, processed, created in connection.execute(
                        f"CALL ducklake_{call}"
                    ).fetchall():
                        n_merged, n_written = n_merged + processed, n_written + created
                        say(f"{schema}.{table}: {processed} files merged into {created}.")
        unread = datetime.now(UTC) - read_for
        removed = [
            path
            for name in ("cleanup_old_files", "delete_orphaned_files")
            for path in connection.execute(
                f"CALL ducklake_{name}('warehouse', older_than => $unread)", {"unread": unread}
            ).fetchall()
        ]
    return Upkeep(len(ended), len(pinned & {*old}), n_merged, n_written, len(removed))
