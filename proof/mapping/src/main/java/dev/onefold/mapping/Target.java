package dev.onefold.mapping;

import org.jspecify.annotations.Nullable;

/// What a mapping invokes, and whom it tells of what it gives up.
///
/// @param onFailure `null` for nobody: then records that are given up are only counted
public record Target(
        Invoker invoker, String functionArn, @Nullable Destination onFailure) {}
