-- The letters that items have: they stay when more items come.
SELECT item_id, answer FROM choice.mmiu_items ORDER BY item_id;
