package dev.onefold.embedded;

import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.fold.Codes;
import java.nio.file.Path;

/// A pipeline whose function is in a jar.
///
/// @param bytes of the jar
public record FunctionJar(LoadedFunction function, byte[] bytes) {
    /// Makes the function that a pipeline names.
    ///
    /// @param jar that has its class
    /// @throws IllegalArgumentException saying what is wrong with the class
    public static FunctionJar load(Pipeline pipeline, Path jar) {
        byte[] bytes = Disk.readAll(jar);
        return new FunctionJar(LoadedFunction.load(pipeline, Codes.loader(jar), Sha256.hex(bytes)), bytes);
    }
}
