-- Conversations of three turns in their order.
SELECT set_id, item_id, entry_id, image_id, turns, focus
FROM dialogue.three_turns
ORDER BY item_id;
