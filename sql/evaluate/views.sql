-- The leaderboard: one score a row, with its interval and its counts.
CREATE OR REPLACE VIEW evaluate.leaderboard AS
SELECT
    benchmark,
    release_id AS release,
    model,
    dimension || '/' || aggregation AS metric,
    value,
    ci_low,
    ci_high,
    n_items,
    n_judged,
    n_failed,
    n_refused,
    judge,
    provider
FROM evaluate.scores
ORDER BY benchmark, release, metric, value DESC NULLS LAST, n_refused, model;

-- Lineage of every judged turn: reviewers, prompts, calls, images and pages.
CREATE OR REPLACE VIEW evaluate.provenance AS
SELECT
    j.benchmark,
    j.release_id AS release,
    j.model,
    j.judge,
    j.item_id AS item,
    j.turn,
    j.score,
    j.scores,
    j.explanation,
    t.question,
    r.reference,
    a.answer,
    a.status AS answer_status,
    a.call_key AS answer_call_key,
    j.call_key AS judge_call_key,
    a.prompt_version AS answer_prompt_version,
    j.prompt_version AS judge_prompt_version,
    t.prompt_version AS question_prompt_version,
    t.call_key AS question_call_key,
    r.prompt_version AS reference_prompt_version,
    r.call_key AS reference_call_key,
    i.reviewers,
    i.revision,
    l.review_policy,
    l.review_share,
    m.image_ids,
    m.page_urls,
    j.provider
FROM evaluate.judgments AS j
JOIN evaluate.answers AS a
    ON a.release_id = j.release_id
    AND a.model = j.model
    AND a.item_id = j.item_id
    AND a.turn = j.turn
    AND a.call_key = j.answer_call_key
LEFT JOIN release.releases AS l ON l.release_id = j.release_id
JOIN release.items AS i ON i.release_id = j.release_id AND i.item_id = j.item_id
JOIN release.turns AS t
    ON t.release_id = j.release_id AND t.item_id = j.item_id AND t.turn = j.turn
JOIN release.references AS r
    ON r.release_id = j.release_id AND r.item_id = j.item_id AND r.turn = j.turn
JOIN (
    SELECT
        release_id,
        item_id,
        list(image_id ORDER BY position) AS image_ids,
        list(page_url ORDER BY position) AS page_urls
    FROM release.images
    GROUP BY release_id, item_id
) AS m ON m.release_id = j.release_id AND m.item_id = j.item_id;
