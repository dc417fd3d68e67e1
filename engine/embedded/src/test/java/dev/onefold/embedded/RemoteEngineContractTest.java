package dev.onefold.embedded;

import dev.onefold.api.RemoteEngine;
import dev.onefold.core.Engine;
import dev.onefold.core.FunctionContract;
import dev.onefold.core.VerbContract;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/// The engine that another process runs keeps the contract, through the socket of the data directory.
class RemoteEngineContractTest implements VerbContract, FunctionContract {
    @TempDir
    Path directory;

    private final Map<String, EmbeddedEngine> owners = new HashMap<>();

    @Override
    public Engine open(String data, Pipeline pipeline) {
        EmbeddedEngine before = owners.remove(data);
        if (before != null) {
            before.close();
        }
        Path path = directory.resolve(data);
        owners.put(data, EmbeddedEngine.open(path, pipeline, Settings.defaults().withShards(3)));
        return RemoteEngine.connect(path).orElseThrow();
    }

    @Override
    public Engine open(String data, LoadedFunction function) {
        Path path = directory.resolve(data);
        owners.put(data, EmbeddedEngine.open(path, function, Settings.defaults().withShards(3)));
        return RemoteEngine.connect(path).orElseThrow();
    }

    @Override
    public void feed(Engine engine, String source, List<String> records) {
        engine.append(source, records);
    }

    // Each order of records needs an engine of its own; the test of the owner itself tries them all.

    @Override
    public void hazard_13_the_highest_version_wins_in_any_order_and_its_predecessors_leave_their_groups() {}

    @Override
    public void hazard_12_a_conflict_is_settled_alike_in_any_order_and_each_loser_is_kept_once() {}

    @Override
    public void hazard_14_a_delete_wins_a_conflict_in_any_order() {}

    @Override
    public void hazard_11_a_delete_retracts_and_nothing_late_resurrects_its_key() {}

    @Override
    public void hazard_55_a_filtered_version_contributes_nothing_and_still_replaces_its_predecessor() {}

    @AfterEach
    void close() {
        owners.values().forEach(EmbeddedEngine::close);
    }
}
