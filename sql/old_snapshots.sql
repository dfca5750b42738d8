-- Snapshots of a lake from before a time; the last one is always kept.
SELECT snapshot_id
FROM ducklake_snapshots('warehouse')
WHERE snapshot_time < $before
    AND snapshot_id < (SELECT max(snapshot_id) FROM ducklake_snapshots('warehouse'))
ORDER BY snapshot_id;
