package dev.onefold.embedded.checkpoint;

/// A segment by its number, and how much of it counts.
public record Extent(long sequence, int length) {}
