package dev.onefold.embedded;

import dev.onefold.core.process.LoadedFunction;

/// A pipeline whose function is in a jar.
///
/// @param function the function, loaded from these very bytes; its code has their hash
/// @param bytes of the jar, which the data directory keeps
public record FunctionJar(LoadedFunction function, byte[] bytes) {}
