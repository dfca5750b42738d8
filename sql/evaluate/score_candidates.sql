-- Judged answers of the current releases: a few of each model and benchmark, drawn by a hash, with the
-- images shown so far as the judge had them and the turns before, and nothing of what it said.
WITH judged AS (
    SELECT
        j.benchmark, j.release_id, j.model, j.item_id, j.trial, j.turn,
        -- A judge of a pair is asked in both orders.
        bool_or(list_contains($orders, j.part)) AS is_pair
    FROM evaluate.shown_judgments AS j
    JOIN release.current AS c USING (release_id)
    -- What calibrates models and judges is not for people to score.
    ANTI JOIN (SELECT unnest($apart) AS beginning) AS a ON starts_with(j.model, a.beginning)
    GROUP BY ALL
),
drawn AS (
    FROM judged
    QUALIFY row_number() OVER (
        PARTITION BY benchmark, release_id, model
        ORDER BY md5(concat_ws(' ', $n_seed, model, item_id, turn)), item_id, turn, trial
    ) <= $n_answers
),
before AS (
    SELECT
        d.release_id,
        d.model,
        d.item_id,
        d.trial,
        d.turn,
        list({
            question: t.question, reference: r.reference, answer: coalesce(a.answer, r.reference)
        } ORDER BY t.turn) AS earlier
    FROM drawn AS d
    JOIN release.turns AS t
        ON t.release_id = d.release_id AND t.item_id = d.item_id AND t.turn < d.turn
    LEFT JOIN release.references AS r
        ON r.release_id = d.release_id
        AND r.item_id = d.item_id
        AND r.turn = t.turn
        AND r.kind = 'answer'
    LEFT JOIN evaluate.shown_answers AS a
        ON a.release_id = d.release_id
        AND a.model = d.model
        AND a.item_id = d.item_id
        AND a.trial = d.trial
        AND a.turn = t.turn
    WHERE d.is_pair
    GROUP BY ALL
)
SELECT
    d.benchmark,
    d.model,
    -- What was imported is of no set.
    coalesce(i.set_id, i.item_id) AS set_id,
    t.question,
    r.reference,
    a.answer,
    d.is_pair,
    coalesce(b.earlier, []) AS earlier,
    (
        SELECT coalesce(list(m.image_id ORDER BY m.position), [])
        FROM release.images AS m
        WHERE m.release_id = d.release_id
            AND m.item_id = d.item_id
            AND m.position <= (
                SELECT coalesce(sum(len(e.image_positions)), 0)
                FROM release.turns AS e
                WHERE e.release_id = d.release_id
                    AND e.item_id = d.item_id
                    AND e.turn <= d.turn
            )
    ) AS image_ids
FROM drawn AS d
JOIN release.items AS i ON i.release_id = d.release_id AND i.item_id = d.item_id
JOIN release.turns AS t
    ON t.release_id = d.release_id AND t.item_id = d.item_id AND t.turn = d.turn
JOIN release.references AS r
    ON r.release_id = d.release_id
    AND r.item_id = d.item_id
    AND r.turn = d.turn
    AND r.kind = 'answer'
JOIN evaluate.shown_answers AS a
    ON a.release_id = d.release_id
    AND a.model = d.model
    AND a.item_id = d.item_id
    AND a.trial = d.trial
    AND a.turn = d.turn
LEFT JOIN before AS b
    ON b.release_id = d.release_id
    AND b.model = d.model
    AND b.item_id = d.item_id
    AND b.trial = d.trial
    AND b.turn = d.turn
WHERE a.answer IS NOT NULL
ORDER BY d.benchmark, d.model, d.item_id, d.turn, d.trial;
