-- Snapshots in which rows of release.releases were written, and which: the first one first.
SELECT snapshot_id, commit_extra_info
FROM ducklake_snapshots('warehouse')
WHERE starts_with(commit_extra_info, '{"releases":')
ORDER BY snapshot_id;
