package dev.onefold.s3;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.pipeline.Batching.Destination;

/// The place of a pipeline's objects.
///
/// @param bucket its name
/// @param key of an object, with [Destination#NUMBER] in the place of the batch's number
public record S3Address(String bucket, String key) {
    private static final String SCHEME = "s3://";

    /// The address that a pipeline file has, such as `s3://bucket/quakes-{number}.ndjson`.
    public static S3Address of(Destination destination) {
        String path = destination.target().getFirst().substring(SCHEME.length());
        int slash = path.indexOf('/');
        return new S3Address(path.substring(0, slash), path.substring(slash + 1));
    }

    /// The prefix of all keys: the text before the number.
    public String prefix() {
        return key.substring(0, key.indexOf(Destination.NUMBER));
    }

    String key(BatchNumber number) {
        return key.replace(Destination.NUMBER, number.toString());
    }

    /// For messages.
    String url(String objectKey) {
        return SCHEME + bucket + "/" + objectKey;
    }
}
