-- Seeds in their order.
SELECT seed_id, set_id, question, reference FROM rewrite.seeds ORDER BY seed_id;
