package dev.onefold.aws;

/// A record as a stream delivered it. What makes it the same record when it is delivered again is its place: shard,
/// sequence number and, within a record that holds several, sub-sequence number.
///
/// @param shard name of the stream and its shard, such as `trades/shardId-000000000001`
/// @param sequence decimal, up to 56 digits
/// @param subSequence from 0; 0 where a record holds one
public record Arrival(String shard, String sequence, long subSequence, byte[] data) {}
