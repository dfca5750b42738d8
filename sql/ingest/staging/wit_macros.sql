-- Macros that read the fields of a line. CASE, unlike AND, evaluates the second condition only if needed.

CREATE OR REPLACE TEMP MACRO unquoted(piece) AS
    CASE WHEN starts_with(piece, '"') THEN replace(piece[2:-2], '""', '"') ELSE piece END;
CREATE OR REPLACE TEMP MACRO filled(text) AS
    CASE
        WHEN trim(text, ' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13)) = '' THEN NULL
        ELSE text
    END;
-- A field's value: without the quotes around it, NULL if it is blank. Only empty fields and fields that
-- begin with a blank, a control character, '!' or '"' sort before '#', so most fields cost one comparison.
CREATE OR REPLACE TEMP MACRO value_of(piece) AS
    CASE WHEN piece < '#' THEN filled(unquoted(piece)) ELSE piece END;
-- A title or a language, without what is no part of it at its ends (`edges`).
CREATE OR REPLACE TEMP MACRO title_of(piece, edges) AS nullif(trim(value_of(piece), edges), '');
-- The last field of a line without the line end.
CREATE OR REPLACE TEMP MACRO without_end(piece) AS
    CASE WHEN ends_with(piece, chr(13) || chr(10)) THEN piece[:-3] ELSE piece[:-2] END;
-- Whether a field is plainly an integer, a boolean or a URL, or is NULL. A URL with a query may hold a secret.
CREATE OR REPLACE TEMP MACRO plain_number(text) AS
    text IS NULL OR (strlen(text) <= 9 AND try_cast(text AS UINTEGER)::VARCHAR = text);
CREATE OR REPLACE TEMP MACRO plain_boolean(text) AS
    text IS NULL OR lower(text) IN ('true', 'false');
CREATE OR REPLACE TEMP MACRO plain_address(text) AS
    regexp_full_match(text, 'https?://[A-Za-z0-9.-]+(:[0-9]{1,4})?(/[!->@-~]*)?');
