-- Pictures that an encoder has encoded.
SELECT image_id FROM rewrite.picture_vectors WHERE encoder = $encoder;
