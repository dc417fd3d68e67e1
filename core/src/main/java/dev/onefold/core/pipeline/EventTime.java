package dev.onefold.core.pipeline;

/// Where a record says when it happened.
public record EventTime(FieldPath field, TimeType type) {}
