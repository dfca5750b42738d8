-- Names of the tasks of each turn, by how many turns have them.
SELECT turn, t.task AS name, count(*) AS n_turns
FROM (SELECT unnest(turns) AS t, generate_subscripts(turns, 1) AS turn FROM dialogue.three_turns)
GROUP BY ALL
ORDER BY turn, name;
