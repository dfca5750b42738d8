-- The length in words of every answer on one release. A Chinese or Japanese character counts as a word.
SELECT
    model,
    item_id,
    trial,
    turn,
    len(regexp_extract_all(
        answer,
        '[\p{Han}\p{Hiragana}\p{Katakana}]|[^\s\p{Han}\p{Hiragana}\p{Katakana}]+'
    )) AS n_words
FROM evaluate.answers
WHERE release_id = $release_id AND n_words > 0
ORDER BY ALL;
