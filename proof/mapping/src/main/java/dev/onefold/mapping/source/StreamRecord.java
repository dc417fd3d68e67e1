package dev.onefold.mapping.source;

import java.time.Instant;

/// A record of a shard.
///
/// @param sequence its sequence number, which an answer names it by
/// @param orderedBy records with the same one are delivered in order: the partition key, or the item's key
/// @param arrival when it came into the stream
/// @param json as it stands under `Records` of the event that a function gets
public record StreamRecord(String sequence, String orderedBy, Instant arrival, byte[] json) {}
