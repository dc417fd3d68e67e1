package dev.onefold.core.pipeline;

/// What a pipeline file says: what an event is, and what is made of events. Equal pipelines give equal answers on equal
/// input.
public record Pipeline(String name, Input input, Fold fold) {}
