package dev.onefold.aws.stream;

import java.nio.charset.StandardCharsets;

/// A record that is to be put into a stream.
///
/// @param number of the record, given by its maker; greater than that of the record before
/// @param partitionKey from 1 to 256 characters; records that have the same one stay in their order
public record StreamRecord(long number, String partitionKey, byte[] data) {
    public StreamRecord {
        if (partitionKey.isEmpty() || partitionKey.length() > PartitionKeys.CHARACTERS_MAX) {
            throw new IllegalArgumentException("A partition key has 1 to " + PartitionKeys.CHARACTERS_MAX
                    + " characters, and this one has " + partitionKey.length());
        }
    }

    /// The size that it has in a request.
    int bytes() {
        return data.length + partitionKey.getBytes(StandardCharsets.UTF_8).length;
    }
}
