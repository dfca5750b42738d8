-- Which call and which prompt made the summaries that the questions of some sets were asked of.
SELECT DISTINCT call_key, prompt_version
FROM dialogue.summaries
WHERE list_contains($set_ids, set_id);
