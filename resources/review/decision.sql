-- What a decision needs to know: its event, if it is stored already; the lock, with the draft, what the item
-- awaits now and the role of the person; how often the person has decided the item in the round; and the
-- clock of locks.
SELECT
    k.event_id AS known, l.round, l.content_hash, l.expires_at,
    s.status, s.round AS round_now, s.content_hash AS content_now, d.draft, a.role, c.ahead, c.latest,
    (
        SELECT count(*) FROM events AS e
        WHERE e.item_id = l.item_id AND e.reviewer = l.annotator AND e.round = l.round
    ) AS n_decided
FROM (SELECT max(event_id) AS event_id FROM events WHERE source_hash = :source_hash) AS k
LEFT JOIN locks AS l
    ON l.token = :token AND l.item_id = :item_id AND l.annotator = :annotator
LEFT JOIN standings AS s ON s.item_id = l.item_id
LEFT JOIN drafts AS d
    ON d.item_id = l.item_id AND d.content_hash = l.content_hash
    AND d.round = l.round AND d.annotator = l.annotator
LEFT JOIN accounts AS a ON a.name = l.annotator
LEFT JOIN clock AS c ON c."only" = 1
