"""Golden file of the asset graph: every asset with its group, what it stands on, its checks."""

from collections import defaultdict
from collections.abc import Callable

from dagster_project.definitions import defs


def test_nodes_and_edges_are_what_they_were(golden: Callable[[str, str], None]) -> None:
    graph = defs.resolve_asset_graph()
    checks = defaultdict(list)
    for key in graph.asset_check_keys:
        checks[key.asset_key].append(key.name)
    lines = []
    for key in sorted(graph.get_all_asset_keys()):
        node = graph.get(key)
        kind = "" if node.is_materializable else ", external"
        by = f", by {node.partitions_def.name}" if hasattr(node.partitions_def, "name") else ""
        lines.append(f"{key.to_user_string()} ({node.group_name}{kind}{by})")
        lines += [f"  <- {each.to_user_string()}" for each in sorted(node.parent_keys)]
        lines += [f"  check {name}" for name in sorted(checks[key])]
    golden("asset_graph.txt", "\n".join(lines))
