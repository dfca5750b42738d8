-- Rows of models and judges that are not archived. Whatever lists or ranks models reads these views.
CREATE OR REPLACE VIEW evaluate.shown_answers AS
FROM evaluate.answers AS a
ANTI JOIN evaluate.archive AS x
    ON x.state <> 'kept'
    AND x.judge = ''
    AND x.model = a.model
    AND x.release_id IN ('', a.release_id);
CREATE OR REPLACE VIEW evaluate.shown_failed AS
FROM evaluate.failed AS f
ANTI JOIN evaluate.archive AS x
    ON x.state <> 'kept'
    AND x.judge IN ('', f.asked)
    AND x.model IN ('', f.model)
    AND x.release_id IN ('', f.release_id);
CREATE OR REPLACE VIEW evaluate.shown_missing AS
FROM evaluate.missing AS m
ANTI JOIN evaluate.archive AS x
    ON x.state <> 'kept'
    AND x.judge IN ('', m.asked)
    AND x.model IN ('', m.model)
    AND x.release_id IN ('', m.release_id);
CREATE OR REPLACE VIEW evaluate.shown_judgments AS
FROM evaluate.judgments AS j
ANTI JOIN evaluate.archive AS x
    ON x.state <> 'kept'
    AND x.judge IN ('', j.judge)
    AND x.model IN ('', j.model)
    AND x.release_id IN ('', j.release_id);
CREATE OR REPLACE VIEW evaluate.shown_pairs AS
FROM evaluate.pairs AS p
ANTI JOIN evaluate.archive AS x
    ON x.state <> 'kept'
    AND x.judge IN ('', p.judge)
    AND x.model IN ('', p.model_a, p.model_b)
    AND x.release_id IN ('', p.release_id);

-- How each model was asked on a release, and a label that names what differs from the others there. Image limits,
-- server and version tell only entries of one model apart.
CREATE OR REPLACE VIEW evaluate.candidates AS
WITH settings AS (
    SELECT
        release_id,
        model,
        setting.key AS name,
        string_agg(DISTINCT setting.value, ' or ' ORDER BY setting.value) AS value
    FROM (
        SELECT release_id, model, unnest(map_entries(settings)) AS setting
        FROM (
            -- Grouping by a hash takes a third of the time that distinct maps take.
            SELECT release_id, model, any_value(settings) AS settings
            FROM evaluate.answers
            WHERE settings IS NOT NULL
            GROUP BY release_id, model, hash(settings)
        )
        -- A model that was archived stands on the leaderboards until evaluation runs again.
        SEMI JOIN (
            SELECT release_id, model FROM evaluate.shown_answers
            UNION
            SELECT release_id, model FROM evaluate.scores
        ) USING (release_id, model)
    )
    GROUP BY ALL
),
short (name, text, place, any_model) AS (
    VALUES
        ('temperature', 'T=', 1, true),
        ('top_p', 'top_p=', 2, true),
        ('seed', 'seed=', 3, true),
        ('stop', 'stop=', 4, true),
        ('reasoning', 'reasoning=', 5, true),
        ('max_tokens', 'max_tokens=', 6, true),
        ('extra_body', 'extra_body=', 7, true),
        ('prompt', 'prompt=', 8, true),
        ('context_policy', 'context=', 9, true),
        ('max_images', 'max_images=', 10, false),
        ('many_images', 'many_images=', 11, false),
        ('max_side', 'max_side=', 12, false),
        ('detail', 'detail=', 13, false),
        ('server', 'server=', 14, false),
        ('version', 'version=', 15, false)
),
differing AS (
    SELECT one.release_id, one.model, string_agg(text || one.value, ', ' ORDER BY place) AS text
    FROM settings AS one
    JOIN short USING (name)
    JOIN settings AS served ON served.name = 'model'
        AND served.release_id = one.release_id
        AND served.model = one.model
    WHERE one.value <> 'none' AND EXISTS (
        FROM settings AS other
        JOIN settings AS other_served ON other_served.name = 'model'
            AND other_served.release_id = other.release_id
            AND other_served.model = other.model
        WHERE other.release_id = one.release_id
            AND other.name = one.name
            AND other.value <> one.value
            AND (any_model OR other_served.value = served.value)
    )
    GROUP BY ALL
)
SELECT
    release_id,
    model,
    any_value(model || coalesce(' (' || text || ')', '')) AS label,
    map_from_entries(list((name, value) ORDER BY name)) AS settings
FROM settings
LEFT JOIN differing USING (release_id, model)
GROUP BY release_id, model
ORDER BY release_id, model;

-- Judges whose scores do not tell models apart: 95 % or more of at least 30 different answers to at least 5 items,
-- where models answered differently, have the same score. Fewer can be equal by chance or for good reason.
CREATE OR REPLACE VIEW evaluate.constant_judges AS
WITH judged AS (
    -- Equal answers of several models, and replicates, are one.
    SELECT
        j.release_id,
        j.judge,
        j.judge_version,
        j.item_id,
        j.trial,
        j.turn,
        j.part,
        a.answer,
        -- Of two orders of a pair: the share of a win that the answer in the first place has.
        avg(CASE WHEN suffix(j.part, 'model-second') THEN 1 - j.score ELSE j.score END) AS score
    FROM evaluate.shown_judgments AS j
    JOIN evaluate.shown_answers AS a USING (release_id, model, item_id, trial, turn)
    -- Of comparisons that have a direct grade, too, the comparison ranks.
    WHERE NOT suffix(j.part, 'grade')
    GROUP BY ALL
),
compared AS (
    SELECT *
    FROM judged
    QUALIFY count(*) OVER (
        PARTITION BY release_id, judge, judge_version, item_id, trial, turn, part
    ) > 1
)
SELECT
    release_id,
    judge,
    judge_version,
    count(*) AS n_answers,
    count(DISTINCT item_id) AS n_items,
    mode(score) AS constant_score,
    list_max(map_values(histogram(score))) / count(*) AS constant_share
FROM compared
GROUP BY release_id, judge, judge_version
HAVING n_answers >= 30 AND n_items >= 5 AND constant_share >= 0.95
ORDER BY release_id, judge, judge_version;

-- The results: every score, with its rank. Reports, exports, printed leaderboards and `evaluate.leaderboard` read it.
-- `judged_only` is the score without what the model failed.
CREATE OR REPLACE VIEW evaluate.results AS
SELECT
    s.*,
    coalesce(c.label, s.model) AS label,
    c.settings,
    j.value AS judged_only,
    r.rank,
    r.rank_low,
    r.rank_high,
    r.coverage,
    r.why,
    r.mark,
    r.related,
    m.access,
    m.parameters,
    m.backbone,
    m.main_language,
    m.trained_on,
    m.reference_rank
FROM evaluate.scores AS s
LEFT JOIN evaluate.models AS m USING (model)
LEFT JOIN (SELECT * FROM evaluate.scores WHERE form = 'judged') AS j
    USING (
        release_id, model, judge, judge_version, metric, aggregation, subset_label, subset_value
    )
LEFT JOIN evaluate.candidates AS c USING (release_id, model)
LEFT JOIN evaluate.ranks AS r USING (release_id, model, judge, judge_version, metric, aggregation);

-- The leaderboard: one score a row, failures at the floor, with its interval, rank and counts.
CREATE OR REPLACE VIEW evaluate.leaderboard AS
SELECT
    s.benchmark,
    s.release_id AS release,
    s.model,
    s.label,
    s.metric || '/' || s.aggregation AS metric,
    s.rank,
    s.rank_low || '-' || s.rank_high AS ranks,
    s.value,
    s.ci_low,
    s.ci_high,
    s.n_clusters,
    s.method,
    s.seed,
    s.judged_only,
    s.coverage,
    s.mark,
    s.n_items,
    s.n_judged,
    s.n_failed,
    s.n_refused,
    s.n_truncated,
    s.n_reasoning_only,
    s.n_empty,
    -- One word, so that the preview stays narrow; evaluate.ranks has the words.
    CASE WHEN s.related LIKE 'is %' THEN 'self' WHEN s.related IS NOT NULL THEN 'family' END AS related,
    s.judge,
    s.judge_version,
    s.provider,
    k.constant_score,
    s.settings,
    s.access,
    s.parameters,
    s.backbone,
    s.main_language,
    coalesce(s.trained_on, []) AS trained_on,
    s.reference_rank
FROM evaluate.results AS s
LEFT JOIN evaluate.constant_judges AS k USING (release_id, judge, judge_version)
WHERE s.form = 'floor' AND s.subset_label = ''
-- The metric that ranks a benchmark first.
ORDER BY
    s.benchmark,
    s.release_id,
    s.judge,
    s.judge_version,
    s.place,
    s.metric,
    s.aggregation,
    s.value DESC NULLS LAST,
    s.n_refused,
    s.model;

-- Two models that differ by what they were trained on, as `models.yaml` says, and by nothing else that it says: scores
-- before and after, and their difference on the units that both have (MMDU, Tables 2 and 3).
CREATE OR REPLACE VIEW evaluate.training_effects AS
WITH pairs AS (
    SELECT *, first AS after, second AS before, 1 AS sign FROM evaluate.comparisons
    UNION ALL
    SELECT *, second AS after, first AS before, -1 AS sign FROM evaluate.comparisons
),
scored AS (
    SELECT release_id, model, judge, judge_version, metric, aggregation, place, value
    FROM evaluate.scores
    WHERE form = 'floor' AND subset_label = ''
)
SELECT
    p.benchmark,
    p.release_id,
    p.judge,
    p.judge_version,
    p.metric,
    p.aggregation,
    p.before,
    p.after,
    array_to_string(list_filter(a.trained_on, x -> NOT list_contains(b.trained_on, x)), ', ') AS trained_on,
    of_before.value AS value_before,
    of_after.value AS value_after,
    p.sign * p.difference AS difference,
    least(p.sign * p.ci_low, p.sign * p.ci_high) AS ci_low,
    greatest(p.sign * p.ci_low, p.sign * p.ci_high) AS ci_high,
    p.p,
    p.p_holm,
    p.n_units,
    p.n_clusters,
    p.method
FROM pairs AS p
JOIN evaluate.models AS b ON b.model = p.before
JOIN evaluate.models AS a
    ON a.model = p.after
    AND a.backbone = b.backbone
    AND a.parameters IS NOT DISTINCT FROM b.parameters
    AND list_has_all(a.trained_on, b.trained_on)
    AND len(a.trained_on) > len(b.trained_on)
JOIN scored AS of_before
    ON of_before.model = p.before
    AND of_before.release_id = p.release_id
    AND of_before.judge = p.judge
    AND of_before.judge_version = p.judge_version
    AND of_before.metric = p.metric
    AND of_before.aggregation = p.aggregation
JOIN scored AS of_after
    ON of_after.model = p.after
    AND of_after.release_id = p.release_id
    AND of_after.judge = p.judge
    AND of_after.judge_version = p.judge_version
    AND of_after.metric = p.metric
    AND of_after.aggregation = p.aggregation
WHERE p.form = 'floor'
ORDER BY p.release_id, p.judge, p.judge_version, p.before, p.after, of_after.place;

-- Lineage of every scored turn, judged or read by rule: reviewers, prompts, calls, images and pages.
CREATE OR REPLACE VIEW evaluate.provenance AS
SELECT
    o.benchmark,
    o.release_id AS release,
    o.model,
    o.judge,
    o.judge_version,
    o.replicate,
    o.item_id AS item,
    o.trial,
    o.turn,
    o.part,
    o.observed,
    j.score,
    j.scores,
    j.explanation,
    t.question,
    r.reference,
    a.answer,
    a.status AS answer_status,
    e.value AS reading,
    e.extractor,
    a.call_key AS answer_call_key,
    e.call_key AS extractor_call_key,
    o.call_key AS judge_call_key,
    a.prompt_version AS answer_prompt_version,
    e.prompt_version AS extractor_prompt_version,
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
    coalesce(j.provider, a.provider) AS provider
FROM (
    SELECT
        benchmark,
        release_id,
        model,
        judge,
        judge_version,
        replicate,
        item_id,
        trial,
        turn,
        part,
        any_value(call_key) AS call_key,
        map_from_entries(list({'key': metric, 'value': value} ORDER BY metric)) AS observed
    FROM evaluate.observations
    WHERE status = 'judged'
    GROUP BY ALL
) AS o
JOIN evaluate.answers AS a USING (release_id, model, item_id, trial, turn)
LEFT JOIN evaluate.judgments AS j
    USING (release_id, model, judge, replicate, item_id, trial, turn, part)
LEFT JOIN evaluate.extractions AS e USING (release_id, model, item_id, trial, turn)
LEFT JOIN release.releases AS l USING (release_id)
JOIN release.items AS i USING (release_id, item_id)
JOIN release.turns AS t USING (release_id, item_id, turn)
LEFT JOIN (
    SELECT
        release_id,
        item_id,
        turn,
        arg_min(reference, kind) AS reference,
        arg_min(prompt_version, kind) AS prompt_version,
        arg_min(call_key, kind) AS call_key
    FROM release.references
    -- Where there is no answer to compare with, the key of the right choice.
    WHERE kind IN ('answer', 'key')
    GROUP BY release_id, item_id, turn
) AS r USING (release_id, item_id, turn)
LEFT JOIN (
    SELECT
        release_id,
        item_id,
        list(image_id ORDER BY position) AS image_ids,
        list(page_url ORDER BY position) AS page_urls
    FROM release.images
    GROUP BY release_id, item_id
) AS m USING (release_id, item_id);

-- The findings of one analysis each: the asset of its name makes them.
CREATE OR REPLACE VIEW evaluate.language_gaps AS FROM evaluate.findings WHERE analysis = 'language_gaps';
CREATE OR REPLACE VIEW evaluate.prompt_sensitivity AS FROM evaluate.findings WHERE analysis = 'prompt_sensitivity';
CREATE OR REPLACE VIEW evaluate.model_groups AS FROM evaluate.findings WHERE analysis = 'model_groups';
CREATE OR REPLACE VIEW evaluate.judge_quality AS FROM evaluate.findings WHERE analysis = 'judge_quality';
CREATE OR REPLACE VIEW evaluate.extraction_quality AS FROM evaluate.findings WHERE analysis = 'extraction_quality';
