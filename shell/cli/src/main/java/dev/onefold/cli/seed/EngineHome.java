package dev.onefold.cli.seed;

import dev.onefold.cli.data.EngineArgument;
import dev.onefold.cli.data.PlaceOptions;
import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Engine;
import dev.onefold.core.Sync;
import dev.onefold.tables.Seeder;
import dev.onefold.tables.compare.EngineCatchUp;
import dev.onefold.tables.compare.Report;
import dev.onefold.tables.compare.SourceComparison.Passing;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// An engine on a data directory, or of a service.
public final class EngineHome implements Home {
    private final PlaceOptions place;
    private @Nullable Sync sync;

    /// @param place where the source is, if it is on AWS
    public EngineHome(PlaceOptions place) {
        this.place = place;
    }

    @Override
    public Map<String, Object> options() {
        return Map.of();
    }

    @Override
    public Clients clients() {
        return new Clients(place::place);
    }

    @Override
    public void note(Engine engine) {
        EngineArgument.require(engine, Capability.SYNC);
        sync = engine.sync();
    }

    @Override
    public String announcement(Engine engine) {
        return "";
    }

    @Override
    public Session begin(Engine engine, Opened opened, Work work) {
        Sync noted = Objects.requireNonNull(sync, "It was not noted how the data are");
        return new OnEngine(engine, work, work.repairs() ? noted.repair() : noted.compare());
    }

    private record OnEngine(Engine engine, Work work, Sync.Run run) implements Session {
        @Override
        public long number() {
            return run.number();
        }

        @Override
        public Passing passing() {
            return new EngineCatchUp(engine, number(), work.waiting());
        }

        @Override
        public Seeder.Intake intake() {
            return run::appendRows;
        }

        @Override
        public void finish(Report report) {
            if (work.repairs() || !report.isEqual()) {
                run.finish();
            }
        }

        @Override
        public void close() {
            run.close();
        }
    }
}
