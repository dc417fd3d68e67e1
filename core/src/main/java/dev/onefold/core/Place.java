package dev.onefold.core;

/// Where a record was first read: its source, its line there (from 1) and the offset of its first byte.
public record Place(String source, long line, long offset) {}
