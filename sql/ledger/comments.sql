-- What each column of the tables and views of this stage means: DuckDB's prompt and Dagster's UI show it.

COMMENT ON COLUMN ledger.calls.key IS 'Key of the call: a hash of model, messages, parameters and prompt version.';
COMMENT ON COLUMN ledger.calls.status IS 'answered, or lost: paid for, and no answer.';
COMMENT ON COLUMN ledger.calls.provider IS 'Who was asked; offline is the stand-in.';
COMMENT ON COLUMN ledger.calls.endpoint IS 'Who answered: the identity of the entry in models.yaml, or the address of its server; NULL where it is not known.';
COMMENT ON COLUMN ledger.calls.model IS 'Model that was asked, by the name that its server has for it.';
COMMENT ON COLUMN ledger.calls.prompt_version IS 'Prompt and its hash, such as mmdu/judge@4bf65a46.';
COMMENT ON COLUMN ledger.calls.stage IS 'Asset that asked, such as dialogue.summaries.';
COMMENT ON COLUMN ledger.calls.run IS 'Run that asked first: its id in Dagster, or demo for make demo.';
COMMENT ON COLUMN ledger.calls.via IS 'How it was sent: live, or in a batch at the provider.';
COMMENT ON COLUMN ledger.calls.outcome IS 'What came: answered, or why it is no answer (refused, truncated, reasoning_only, empty, bad_response).';
COMMENT ON COLUMN ledger.calls.finish_reason IS 'Why the model stopped, as the provider says, such as stop or length.';
COMMENT ON COLUMN ledger.calls.prompt_tokens IS 'Tokens of the request.';
COMMENT ON COLUMN ledger.calls.completion_tokens IS 'Tokens of the answer.';
COMMENT ON COLUMN ledger.calls.cost_usd IS 'Price of the call in US dollars, by the prices in models.yaml.';
COMMENT ON COLUMN ledger.calls.seconds IS 'Time from request to answer in seconds; NULL for a lost call.';
COMMENT ON COLUMN ledger.calls.attempts IS 'Times that it was sent until the answer came; NULL for a lost call.';
COMMENT ON COLUMN ledger.calls.answered_as IS 'The model that the reply names, where that is another than the one asked.';
COMMENT ON COLUMN ledger.calls.claimed_tokens IS 'Tokens of the answer that the reply counts, where they are not believed and others were charged.';
COMMENT ON COLUMN ledger.calls.created_at IS 'When the answer was stored.';

COMMENT ON COLUMN ledger.costs.day IS 'Day of the calls, in UTC.';
COMMENT ON COLUMN ledger.costs.stage IS 'Asset that asked, such as dialogue.summaries.';
COMMENT ON COLUMN ledger.costs.model IS 'Model that was asked, by its name in models.yaml.';
COMMENT ON COLUMN ledger.costs.provider IS 'Who was asked; offline is the stand-in.';
COMMENT ON COLUMN ledger.costs.n_answered IS 'Calls with an answer.';
COMMENT ON COLUMN ledger.costs.n_lost IS 'Calls that were paid for and gave no answer.';
COMMENT ON COLUMN ledger.costs.prompt_tokens IS 'Tokens of all requests.';
COMMENT ON COLUMN ledger.costs.completion_tokens IS 'Tokens of all answers.';
COMMENT ON COLUMN ledger.costs.cost_usd IS 'Price of all calls in US dollars; 0 for a model without a price in models.yaml.';
COMMENT ON COLUMN ledger.costs.seconds IS 'Time spent waiting for answers in seconds, summed over calls; a batch counts none.';
