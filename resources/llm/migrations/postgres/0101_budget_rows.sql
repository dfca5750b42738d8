-- Budgets are one row for each run chain. The limits per minute hold in one process and have no table.
CREATE TABLE budgets (
    chain TEXT COLLATE "C" NOT NULL,
    spent_usd DOUBLE PRECISION NOT NULL,
    reserved_usd DOUBLE PRECISION NOT NULL,
    changed_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (chain)
);
CREATE TABLE budget_runs (
    run TEXT COLLATE "C" NOT NULL,
    chain TEXT COLLATE "C" NOT NULL,
    together BIGINT NOT NULL,
    PRIMARY KEY (run)
);
INSERT INTO budgets (chain, spent_usd, reserved_usd, changed_at)
SELECT account, sum(spent_usd), 0, max(joined_at) FROM spenders GROUP BY account;
INSERT INTO budget_runs (run, chain, together)
SELECT run, max(account), max(together) FROM spenders GROUP BY run;
DROP TABLE spenders;
DROP TABLE taken;
