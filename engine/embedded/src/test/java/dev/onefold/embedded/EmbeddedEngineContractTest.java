package dev.onefold.embedded;

import dev.onefold.core.Engine;
import dev.onefold.core.FunctionContract;
import dev.onefold.core.VerbContract;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;

/// The engine on one machine keeps the contract.
class EmbeddedEngineContractTest implements VerbContract, FunctionContract {
    @TempDir
    Path directory;

    @Override
    public Engine open(String data, Pipeline pipeline) {
        return EmbeddedEngine.open(
                directory.resolve(data), pipeline, Settings.defaults().withShards(3));
    }

    @Override
    public Engine open(String data, LoadedFunction function) {
        return EmbeddedEngine.open(
                directory.resolve(data), function, Settings.defaults().withShards(3));
    }

    @Override
    public void feed(Engine engine, String source, List<String> records) {
        ((EmbeddedEngine) engine).append(source, records);
    }
}
