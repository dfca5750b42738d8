-- Items in one language in their order, with what their content in review is made of.
SELECT i.item_id, i.set_id, i.image_id, i.question, i.hint, i.choices, i.answer, i.ability AS category
FROM choice.items AS i
WHERE EXISTS (FROM ingest.entries AS e WHERE e.entry_id = i.entry_id AND e.language = $language)
ORDER BY i.item_id;
