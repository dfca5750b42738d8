"""How many items the world of the choice tests has, and the rows of those in current releases."""

from tests.assets.world import Row, World

N_ITEMS, N_DERIVED = 10, 11
"""On one image, and on several without the unanswerable ones."""


def items_of(world: World) -> list[Row]:
    return world.rows("FROM choice.items ORDER BY item_id")


def released_items(
    world: World, language: str = "en", benchmarks: tuple[str, ...] = ("mmbench",)
) -> dict[str, Row]:
    """The items of current releases by id, each of one turn."""
    rows = world.rows(
        "SELECT r.split, i.item_id, i.labels, i.reviewers, i.revision, t.question, t.call_key, "
        "t.image_positions, t.prompt_version, f.kind, f.reference, f.call_key AS answered, "
        "f.prompt_version AS key_by, m.image_id, m.page_url, (SELECT list(c.choice ORDER BY "
        "c.position) FROM release.choices AS c WHERE (c.release_id, c.item_id) = "
        "(i.release_id, i.item_id)) AS choices "
        "FROM release.current JOIN release.releases AS r USING (release_id) "
        "JOIN release.items AS i USING (release_id) "
        "JOIN release.turns AS t USING (release_id, item_id) "
        'JOIN release."references" AS f USING (release_id, item_id) '
        "JOIN release.images AS m USING (release_id, item_id) "
        "WHERE r.benchmark IN (SELECT unnest($benchmarks)) "
        "AND coalesce(r.language, 'en') = $language",
        **{"language": language, "benchmarks": list(benchmarks)},
    )
    return {row["item_id"]: row for row in rows}
