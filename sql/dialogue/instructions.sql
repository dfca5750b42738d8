-- Instructions in their order.
SELECT set_id, instruction_id, entry_id, image_id, instruction
FROM dialogue.instructions
ORDER BY instruction_id;
