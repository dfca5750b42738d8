-- How the pieces of a line are read. CASE, unlike AND, looks at a second condition only where it must.

CREATE OR REPLACE TEMP MACRO unquoted(piece) AS
    CASE WHEN starts_with(piece, '"') THEN replace(piece[2:-2], '""', '"') ELSE piece END;
CREATE OR REPLACE TEMP MACRO filled(text) AS
    CASE
        WHEN trim(text, ' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13)) = '' THEN NULL
        ELSE text
    END;
-- A piece of a line as its value: without the quotes around it, NULL if there is nothing but blanks.
-- Only what is empty or begins with a blank, a control character, '!' or '"' sorts before '#', so most
-- pieces cost one comparison.
CREATE OR REPLACE TEMP MACRO value_of(piece) AS
    CASE WHEN piece < '#' THEN filled(unquoted(piece)) ELSE piece END;
-- The last piece of a line without the line end.
CREATE OR REPLACE TEMP MACRO without_end(piece) AS
    CASE WHEN ends_with(piece, chr(13) || chr(10)) THEN piece[:-3] ELSE piece[:-2] END;
-- Whether a number of pixels, a truth value, an address is plainly one, or is not given.
CREATE OR REPLACE TEMP MACRO plain_number(text) AS
    text IS NULL OR (strlen(text) <= 9 AND try_cast(text AS UINTEGER)::VARCHAR = text);
CREATE OR REPLACE TEMP MACRO plain_boolean(text) AS
    text IS NULL OR lower(text) IN ('true', 'false');
CREATE OR REPLACE TEMP MACRO plain_address(text) AS
    regexp_full_match(text, 'https?://[A-Za-z0-9.-]+(:[0-9]{1,4})?(/[!-~]*)?');
