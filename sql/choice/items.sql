-- Items in their order, with what their content in review is made of.
SELECT item_id, set_id, image_id, question, hint, choices, answer, ability AS category
FROM choice.items
ORDER BY item_id;
