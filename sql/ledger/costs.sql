-- The view as it is shown: the latest day first.
SELECT * REPLACE (round(cost_usd, 6) AS cost_usd, round(seconds, 1) AS seconds) FROM ledger.costs;
