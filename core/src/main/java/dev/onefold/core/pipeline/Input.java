package dev.onefold.core.pipeline;

import org.jspecify.annotations.Nullable;

/// What an event is, and what makes it the same again.
///
/// @param delete a record for which it holds deletes its key
/// @param filter a record for which it does not hold contributes nothing, yet replaces its predecessor
public record Input(
        Format format,
        Identity identity,
        @Nullable EventTime time,
        @Nullable Condition delete,
        @Nullable Condition filter) {}
