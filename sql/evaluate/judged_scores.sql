-- Scores by judges of the answers in the score queue: same question, reference and answer. Equal answers
-- share one judge call; where they do not, the mean counts. Judgments under several versions of one
-- benchmark's judging are of several judges: the version stands behind the name.
WITH judged AS (
    SELECT
        q.item_id,
        j.benchmark,
        j.judge,
        j.judge_version,
        s.dimension,
        s.score
    FROM evaluate.score_queue AS q
    JOIN evaluate.shown_answers AS a ON a.answer = (q.content ->> 'answer')
    JOIN evaluate.shown_judgments AS j
        ON j.release_id = a.release_id
        AND j.model = a.model
        AND j.item_id = a.item_id
        AND j.trial = a.trial
        AND j.turn = a.turn
        AND j.answer_call_key IS NOT DISTINCT FROM a.call_key
    JOIN release.turns AS t
        ON t.release_id = a.release_id
        AND t.item_id = a.item_id
        AND t.turn = a.turn
        AND t.question = (q.content ->> 'question')
    JOIN release.references AS r
        ON r.release_id = a.release_id
        AND r.item_id = a.item_id
        AND r.turn = a.turn
        AND r.kind = 'answer'
        AND r.reference = (q.content ->> 'reference')
    CROSS JOIN LATERAL (
        SELECT unnest(map_keys(j.scores)) AS dimension, unnest(map_values(j.scores)) AS score
    ) AS s
),
versions AS (
    SELECT benchmark, judge, count(DISTINCT judge_version) AS n_versions
    FROM judged
    GROUP BY benchmark, judge
)
SELECT
    j.item_id,
    CASE v.n_versions WHEN 1 THEN j.judge ELSE j.judge || ' ' || j.judge_version END AS judge,
    j.dimension,
    avg(j.score) AS score
FROM judged AS j
JOIN versions AS v USING (benchmark, judge)
GROUP BY ALL
ORDER BY ALL;
