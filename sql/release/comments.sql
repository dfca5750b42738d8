-- What each column of the tables and views of this stage means: DuckDB's prompt and Dagster's UI show it.

COMMENT ON COLUMN release.releases.release_id IS 'Id of the release: its name and a hash of its content.';
COMMENT ON COLUMN release.releases.name IS 'Name that all releases of one benchmark or instruction set share, such as mmdu.';
COMMENT ON COLUMN release.releases.kind IS 'benchmark (to evaluate models) or instruction (to train them).';
COMMENT ON COLUMN release.releases.benchmark IS 'Benchmark that it is a release of, such as mmdu; NULL for instruction sets.';
COMMENT ON COLUMN release.releases.split IS 'Split of the benchmark, such as dev or test; NULL if it has none or it is unknown.';
COMMENT ON COLUMN release.releases.language IS 'Language of its texts, such as en; NULL if unknown.';
COMMENT ON COLUMN release.releases.origin IS 'built (by this project from a corpus) or imported (from files that were published).';
COMMENT ON COLUMN release.releases.n_items IS 'Items in the release, such as dialogues.';
COMMENT ON COLUMN release.releases.n_turns IS 'Turns of all items.';
COMMENT ON COLUMN release.releases.n_images IS 'Different images of all items.';
COMMENT ON COLUMN release.releases.review_policy IS 'Of which items people''s decisions were demanded: none, sample or all.';
COMMENT ON COLUMN release.releases.review_share IS 'Share of the items that decisions were demanded of, 0 to 1.';
COMMENT ON COLUMN release.releases.provider IS 'Who generated the texts; offline is the stand-in, empty is unknown.';
COMMENT ON COLUMN release.releases.created_at IS 'When the release was first made: date and time in UTC.';
COMMENT ON COLUMN release.releases.parent IS 'Release of the same name that was in force before; NULL if there was none.';
COMMENT ON COLUMN release.releases.settings IS 'Settings of each asset that made the release, by table, as JSON; NULL if unknown.';
COMMENT ON COLUMN release.releases.prompt_versions IS 'Prompts that the texts were made with, each with its hash; NULL if unknown.';
COMMENT ON COLUMN release.releases.writers IS 'Models that wrote the texts, by their names in models.yaml; NULL if unknown.';
COMMENT ON COLUMN release.releases.corpus IS 'Shards that were in the corpus, each with the hash of its content; NULL if unknown.';
COMMENT ON COLUMN release.releases.project_version IS 'Version of vlm-loom that made the release; NULL if unknown.';
COMMENT ON COLUMN release.releases.licences IS 'Images by licence, and items left out for the licence of an image, as JSON; NULL if not counted.';
COMMENT ON COLUMN release.releases.quality IS 'Pairs by the outcome of their checks and by what was found, as JSON; NULL if not checked.';

COMMENT ON COLUMN release.current.name IS 'Name of the benchmark or instruction set.';
COMMENT ON COLUMN release.current.release_id IS 'Release of that name that is in force.';

COMMENT ON COLUMN release.items.release_id IS 'Release that the item is part of.';
COMMENT ON COLUMN release.items.item_id IS 'Id of the item; of an imported one that in its file.';
COMMENT ON COLUMN release.items.set_id IS 'Image set that the dialogue is about; NULL if it was imported.';
COMMENT ON COLUMN release.items.group_id IS 'What the item belongs to, such as the question that it is a rewrite of; NULL if to nothing.';
COMMENT ON COLUMN release.items.ordinal IS 'Place of the item in the release, from 1.';
COMMENT ON COLUMN release.items.revision IS 'Edits by people that led to this text; 0 is the generated one.';
COMMENT ON COLUMN release.items.reviewers IS 'People who approved it; policy:name where a policy did instead of a person; empty if it was imported.';
COMMENT ON COLUMN release.items.labels IS 'What scores are split by, such as category, task or ability: name to value.';

COMMENT ON COLUMN release.turns.release_id IS 'Release that the item is part of.';
COMMENT ON COLUMN release.turns.item_id IS 'Item of release.items.';
COMMENT ON COLUMN release.turns.turn IS 'Place of the turn in the item, from 1.';
COMMENT ON COLUMN release.turns.question IS 'What the user says; <ImageHere> stands where an image enters.';
COMMENT ON COLUMN release.turns.image_positions IS 'Images that enter with this turn, by their position in release.images.';
COMMENT ON COLUMN release.turns.given IS 'What the assistant says in this turn, where the benchmark sets it; NULL if models are asked.';
COMMENT ON COLUMN release.turns.call_key IS 'Model call that made the question; NULL if a person wrote it or it was imported.';
COMMENT ON COLUMN release.turns.prompt_version IS 'Prompt of that call and its hash; NULL if a person wrote the question or it was imported.';

COMMENT ON COLUMN release.choices.release_id IS 'Release that the item is part of.';
COMMENT ON COLUMN release.choices.item_id IS 'Item of release.items.';
COMMENT ON COLUMN release.choices.position IS 'Place of the choice: 1 is A, 2 is B.';
COMMENT ON COLUMN release.choices.choice IS 'Text of the choice, without its letter.';

COMMENT ON COLUMN release."references".release_id IS 'Release that the item is part of.';
COMMENT ON COLUMN release."references".item_id IS 'Item of release.items.';
COMMENT ON COLUMN release."references".turn IS 'Turn that is answered, from 1.';
COMMENT ON COLUMN release."references".kind IS 'answer (to compare with), key (letter of the right choice), caption (in place of the images), focus (what to look at).';
COMMENT ON COLUMN release."references".reference IS 'The text that answers are compared with.';
COMMENT ON COLUMN release."references".call_key IS 'Model call that made it; NULL if a person wrote it or it was imported.';
COMMENT ON COLUMN release."references".prompt_version IS 'Prompt of that call and its hash; NULL if a person wrote the text or it was imported.';

COMMENT ON COLUMN release.images.release_id IS 'Release that the item is part of.';
COMMENT ON COLUMN release.images.item_id IS 'Item of release.items.';
COMMENT ON COLUMN release.images.position IS 'Place of the image in the item, from 1.';
COMMENT ON COLUMN release.images.image_id IS 'SHA-256 of the image''s file.';
COMMENT ON COLUMN release.images.page_url IS 'Address of the Wikipedia page that the image is from; NULL if it was imported.';
COMMENT ON COLUMN release.images.title IS 'Title of that page; NULL if the image was imported.';
COMMENT ON COLUMN release.images.attribution IS 'Attribution of the image as WIT states it.';
COMMENT ON COLUMN release.images.licence IS 'Licence of the image as an SPDX expression, such as CC-BY-SA-4.0; NULL if unknown.';
COMMENT ON COLUMN release.images.licence_url IS 'Address of the licence''s text; NULL if unknown.';
COMMENT ON COLUMN release.images.artist IS 'Who made the image; NULL if unknown.';

COMMENT ON COLUMN release.exports.release_id IS 'Release that the file is part of.';
COMMENT ON COLUMN release.exports.path IS 'Path of the file inside the folder releases/ of the home.';
COMMENT ON COLUMN release.exports.sha256 IS 'SHA-256 of the file.';
COMMENT ON COLUMN release.exports.n_bytes IS 'Size of the file in bytes.';

COMMENT ON COLUMN release.overlaps.name IS 'Name of the release that lost it, such as mmdu-instruct.';
COMMENT ON COLUMN release.overlaps.item_id IS 'Item that lost it, or that is left out as a whole.';
COMMENT ON COLUMN release.overlaps.turn IS 'Turn of the item before anything was left out as shared, from 1; NULL if the whole item is.';
COMMENT ON COLUMN release.overlaps.kind IS 'page, image, near_duplicate (a copy of a picture), question (with its answer) or answer.';
COMMENT ON COLUMN release.overlaps.what IS 'Address of the page, id of the image, or the first words of the text.';
COMMENT ON COLUMN release.overlaps.other_release_id IS 'Release of the other side that has it, too.';
COMMENT ON COLUMN release.overlaps.other_item_id IS 'Item of that release that has it.';
