-- Budgets are one row for each run chain. The limits per minute hold in one process and have no table.
CREATE TABLE budgets (
    chain TEXT NOT NULL,
    spent_usd REAL NOT NULL,
    reserved_usd REAL NOT NULL,
    changed_at TEXT NOT NULL,
    PRIMARY KEY (chain)
);
CREATE TABLE budget_runs (
    run TEXT NOT NULL,
    chain TEXT NOT NULL,
    together INTEGER NOT NULL,
    PRIMARY KEY (run)
);
INSERT INTO budgets (chain, spent_usd, reserved_usd, changed_at)
SELECT account, sum(spent_usd), 0, max(joined_at) FROM spenders GROUP BY account;
INSERT INTO budget_runs (run, chain, together)
SELECT run, max(account), max(together) FROM spenders GROUP BY run;
DROP TABLE spenders;
DROP TABLE taken;
