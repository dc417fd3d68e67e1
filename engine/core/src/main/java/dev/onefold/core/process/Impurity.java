package dev.onefold.core.process;

import java.util.List;

/// Two calls with equal arguments had different results: the function is not pure.
///
/// @param key of the event
/// @param first result, which counts, as JSON
public record Impurity(List<String> key, String first, String second) {}
