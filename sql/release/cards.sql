-- The cards of releases by their ids.
SELECT * FROM release.releases WHERE list_contains($release_ids, release_id);
