-- What each column of the tables and views of this stage means: DuckDB's prompt and Dagster's UI show it.

COMMENT ON COLUMN ingest.shards.wit_shard IS 'Name of the shard: its file name without the ending.';
COMMENT ON COLUMN ingest.shards.address IS 'Path or address that the shard was read from.';
COMMENT ON COLUMN ingest.shards.fingerprint IS 'Hash of the shard''s content when it was last read; an equal one is not read again.';
COMMENT ON COLUMN ingest.shards.n_rows IS 'Rows that were accepted.';
COMMENT ON COLUMN ingest.shards.reasons IS 'Rejected lines by reason: reason to number of lines.';

COMMENT ON COLUMN ingest.wit_rows.wit_shard IS 'Shard that the row stands in.';
COMMENT ON COLUMN ingest.wit_rows.line_number IS 'Line or record of the shard, from 1.';
COMMENT ON COLUMN ingest.wit_rows.language IS 'Wikipedia''s language code of the page, such as en or zh.';
COMMENT ON COLUMN ingest.wit_rows.page_url IS 'Address of the Wikipedia page.';
COMMENT ON COLUMN ingest.wit_rows.image_url IS 'Address of the image on the page.';
COMMENT ON COLUMN ingest.wit_rows.page_title IS 'Title of the page.';
COMMENT ON COLUMN ingest.wit_rows.section_title IS 'Title of the section that shows the image.';
COMMENT ON COLUMN ingest.wit_rows.hierarchical_section_title IS 'Titles from the page down to the section, joined by " / ".';
COMMENT ON COLUMN ingest.wit_rows.caption_reference_description IS 'Caption below the image on the page.';
COMMENT ON COLUMN ingest.wit_rows.caption_attribution_description IS 'Description on the image''s own page at Wikimedia Commons.';
COMMENT ON COLUMN ingest.wit_rows.caption_alt_text_description IS 'Alternative text of the image on the page.';
COMMENT ON COLUMN ingest.wit_rows.mime_type IS 'Type of the image as the row states it, such as image/jpeg.';
COMMENT ON COLUMN ingest.wit_rows.original_height IS 'Height of the original image in pixels, as the row states it; NULL if it states none, or 0.';
COMMENT ON COLUMN ingest.wit_rows.original_width IS 'Width of the original image in pixels, as the row states it; NULL if it states none, or 0.';
COMMENT ON COLUMN ingest.wit_rows.is_main_image IS 'Whether the image is the first one of the page.';
COMMENT ON COLUMN ingest.wit_rows.attribution_passes_lang_id IS 'Whether the attribution is in the language of the page.';
COMMENT ON COLUMN ingest.wit_rows.page_changed_recently IS 'Whether the page had changed shortly before WIT was made.';
COMMENT ON COLUMN ingest.wit_rows.context_page_description IS 'First paragraphs of the page.';
COMMENT ON COLUMN ingest.wit_rows.context_section_description IS 'Text of the section that shows the image.';

COMMENT ON COLUMN ingest.rejected.wit_shard IS 'Shard that the line or the image is of.';
COMMENT ON COLUMN ingest.rejected.kind IS 'What was rejected: row (a line of the shard) or image (the file behind an address).';
COMMENT ON COLUMN ingest.rejected.reference IS 'Line in the shard, or address of the image.';
COMMENT ON COLUMN ingest.rejected.reason IS 'Reason of the rejection as one word, to count by.';
COMMENT ON COLUMN ingest.rejected.detail IS 'What was wrong, in a sentence.';
COMMENT ON COLUMN ingest.rejected.excerpt IS 'First 200 characters of a rejected line; empty for images.';

COMMENT ON COLUMN ingest.pages.wit_shard IS 'Shard that the page stands in.';
COMMENT ON COLUMN ingest.pages.page_id IS 'Id of the page: a hash of its address.';
COMMENT ON COLUMN ingest.pages.page_url IS 'Address of the Wikipedia page.';
COMMENT ON COLUMN ingest.pages.title IS 'Title of the page.';
COMMENT ON COLUMN ingest.pages.language IS 'Wikipedia''s language code of the page, such as en or zh.';
COMMENT ON COLUMN ingest.pages.page_text IS 'First paragraphs of the page.';
COMMENT ON COLUMN ingest.pages.categories IS 'Wikipedia categories of the page.';
COMMENT ON COLUMN ingest.pages.topics IS 'Topics of corpus.yaml that the page matches; empty if the corpus names none.';

COMMENT ON COLUMN ingest.changes.run_id IS 'Run of Dagster that found the change.';
COMMENT ON COLUMN ingest.changes.wit_shard IS 'Shard that the page stands in.';
COMMENT ON COLUMN ingest.changes.page_id IS 'Id of the page: a hash of its address.';
COMMENT ON COLUMN ingest.changes.page_url IS 'Address of the Wikipedia page.';
COMMENT ON COLUMN ingest.changes.title IS 'Title of the page.';
COMMENT ON COLUMN ingest.changes.changed_at IS 'When the change was found, in UTC.';
COMMENT ON COLUMN ingest.changes.text_before IS 'Text of the page at the ingestion before.';
COMMENT ON COLUMN ingest.changes.text_after IS 'Text of the page at this ingestion.';

COMMENT ON COLUMN ingest.images.wit_shard IS 'Shard that names the image.';
COMMENT ON COLUMN ingest.images.image_url IS 'Address of the image in the shard.';
COMMENT ON COLUMN ingest.images.fetched_from IS 'Address or file that the image was taken from, for example a rendering or the copy in a mirror.';
COMMENT ON COLUMN ingest.images.image_id IS 'SHA-256 of the image''s file, 64 hex digits: its name in the image store.';
COMMENT ON COLUMN ingest.images.md5 IS 'MD5 of the image''s file, 32 hex digits: the name by which other data sets list it.';
COMMENT ON COLUMN ingest.images.path IS 'Path of the file inside the folder images/ of the home.';
COMMENT ON COLUMN ingest.images.mime_type IS 'Type of the file as its bytes say, such as image/png.';
COMMENT ON COLUMN ingest.images.mode IS 'Pixel format as Pillow names it, such as RGB, P or CMYK.';
COMMENT ON COLUMN ingest.images.animated IS 'Whether the file has more than one frame; the first one is measured.';
COMMENT ON COLUMN ingest.images.rotated IS 'Whether the file asks to be turned or mirrored before it is shown.';
COMMENT ON COLUMN ingest.images.width IS 'Width as shown, in pixels.';
COMMENT ON COLUMN ingest.images.height IS 'Height as shown, in pixels.';
COMMENT ON COLUMN ingest.images.n_bytes IS 'Size of the file in bytes.';
COMMENT ON COLUMN ingest.images.aspect IS 'Width divided by height.';
COMMENT ON COLUMN ingest.images.blur IS 'Variance of the Laplacian in squared grey levels, from 0; low is blurred.';
COMMENT ON COLUMN ingest.images.entropy IS 'Entropy of the grey levels, from 0 (one level) to 8 bits (all equally often).';
COMMENT ON COLUMN ingest.images.brightness IS 'Mean grey level, from 0 (black) to 255 (white).';
COMMENT ON COLUMN ingest.images.phash IS 'Perceptual hash of 64 bits, 16 hex digits: images that look alike differ in few bits.';
COMMENT ON COLUMN ingest.images.attribution IS 'Attribution of the image as WIT states it.';
COMMENT ON COLUMN ingest.images.licence IS 'Licence of the image as an SPDX expression, such as CC-BY-SA-4.0; NULL if unknown.';
COMMENT ON COLUMN ingest.images.licence_url IS 'Address of the licence''s text; NULL if unknown.';
COMMENT ON COLUMN ingest.images.artist IS 'Who made the image; NULL if unknown.';

COMMENT ON COLUMN ingest.images.contrast IS 'Highest less lowest grey level, 0 to 255; NULL where it was measured before there was this.';
COMMENT ON COLUMN ingest.images.visible IS 'Mean opacity, 0 (all transparent) to 1; NULL where it was measured before there was this.';
COMMENT ON COLUMN ingest.images.stated_mime_type IS 'Type that the row states, where the file is of another one; else NULL.';
COMMENT ON COLUMN ingest.images.rights IS 'What the file''s own EXIF, XMP, IPTC or PNG texts say of rights; NULL if nothing.';
COMMENT ON COLUMN ingest.images.licence_source IS 'Where the licence was read: page (of a wiki), attribution, file (its metadata) or corpus (corpus.yaml); NULL if unknown.';

COMMENT ON COLUMN ingest.entries.wit_shard IS 'Shard that the entry stands in.';
COMMENT ON COLUMN ingest.entries.entry_id IS 'Id of the entry: a hash of page, caption, categories, text and image.';
COMMENT ON COLUMN ingest.entries.page_id IS 'Id of the page: a hash of its address.';
COMMENT ON COLUMN ingest.entries.page_url IS 'Address of the Wikipedia page.';
COMMENT ON COLUMN ingest.entries.title IS 'Title of the page.';
COMMENT ON COLUMN ingest.entries.language IS 'Wikipedia''s language code of the page, such as en or zh.';
COMMENT ON COLUMN ingest.entries.categories IS 'Wikipedia categories of the page.';
COMMENT ON COLUMN ingest.entries.caption IS 'Caption of the image: the reference, else the alternative text, else the attribution.';
COMMENT ON COLUMN ingest.entries.page_text IS 'First paragraphs of the page.';
COMMENT ON COLUMN ingest.entries.image_id IS 'SHA-256 of the image''s file.';
COMMENT ON COLUMN ingest.entries.topics IS 'Topics of corpus.yaml that the page matches; empty if the corpus names none.';
COMMENT ON COLUMN ingest.entries.attribution IS 'Attribution of the image as WIT states it.';
COMMENT ON COLUMN ingest.entries.licence IS 'Licence of the image as an SPDX expression, such as CC-BY-SA-4.0; NULL if unknown.';
COMMENT ON COLUMN ingest.entries.licence_url IS 'Address of the licence''s text; NULL if unknown.';
COMMENT ON COLUMN ingest.entries.artist IS 'Who made the image; NULL if unknown.';
COMMENT ON COLUMN ingest.entries.licence_source IS 'Where the licence was read: page (of a wiki), attribution, file (its metadata) or corpus (corpus.yaml); NULL if unknown.';

COMMENT ON COLUMN ingest.left_out.wit_shard IS 'Shard that the rows are of.';
COMMENT ON COLUMN ingest.left_out.step IS 'Asset that left the rows out: pages or entries.';
COMMENT ON COLUMN ingest.left_out.reference IS 'What was left out: a language, the address of a page, or a line of the shard.';
COMMENT ON COLUMN ingest.left_out.reason IS 'Why, as one word, to count by.';
COMMENT ON COLUMN ingest.left_out.detail IS 'Why, in a sentence.';
COMMENT ON COLUMN ingest.left_out.n_rows IS 'Rows of the shard that were left out with it.';
