-- A comparison is won, lost or half won, so a judgment's scores are no whole numbers.
ALTER TABLE evaluate.judgments ALTER score TYPE DOUBLE;
ALTER TABLE evaluate.judgments ALTER scores TYPE MAP(VARCHAR, DOUBLE);
