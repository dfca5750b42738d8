-- When releases were first made.
SELECT release_id, created_at FROM release.releases WHERE list_contains($release_ids, release_id);
