package dev.onefold.aws.event;

/// A message of a queue.
///
/// @param id what a [BatchResponse] names it by
public record Message(String id, String body) {}
