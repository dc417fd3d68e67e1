package dev.onefold.aws.stream;

import java.nio.charset.StandardCharsets;

/// A record that is to be put into a stream.
///
/// @param number what its maker knows it by; each record's is greater than the one's before it
/// @param partitionKey from 1 to 256 characters; records that have the same one stay in their order
public record Outgoing(long number, String partitionKey, byte[] data) {
    public Outgoing {
        if (partitionKey.isEmpty() || partitionKey.length() > PartitionKeys.CHARACTERS_MAX) {
            throw new IllegalArgumentException("A partition key has 1 to " + PartitionKeys.CHARACTERS_MAX
                    + " characters, and this one has " + partitionKey.length());
        }
    }

    /// What it counts for in a request.
    int bytes() {
        return data.length + partitionKey.getBytes(StandardCharsets.UTF_8).length;
    }
}
