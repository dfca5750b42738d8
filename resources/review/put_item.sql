-- Insert or replace an item of the queue; `place` is its position there.
INSERT INTO items (
    item_id, kind, set_id, content_hash, made_of, place, withdrawn, title
)
VALUES (:item_id, :kind, :set_id, :content_hash, :made_of, :place, 0, :title)
ON CONFLICT (item_id) DO UPDATE SET
    kind = excluded.kind,
    set_id = excluded.set_id,
    content_hash = excluded.content_hash,
    made_of = excluded.made_of,
    place = excluded.place,
    withdrawn = 0,
    title = excluded.title
