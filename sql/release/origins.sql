-- Which call made each question and its answer.
SELECT
    q.question_id,
    q.call_key AS question_call_key,
    q.prompt_version AS question_prompt_version,
    a.call_key AS answer_call_key,
    a.prompt_version AS answer_prompt_version,
    q.provider
FROM dialogue.questions AS q
JOIN dialogue.answers AS a USING (question_id);
