package dev.onefold.test;

import dev.onefold.core.keyed.StepFunction;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.process.Processor;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A function that is tested, and an older version of it whose contexts it has to read. Each call of [#now] is a new
/// process: the function is a new object of its class, where that can be made.
final class Subject {
    private final LoadedFunction loaded;
    private final @Nullable LoadedFunction older;
    private final Calls calls = new Calls();
    private final Calls olderCalls = new Calls();

    Subject(LoadedFunction loaded, @Nullable LoadedFunction older) {
        this.loaded = loaded;
        this.older = older;
    }

    /// The older version of a pipeline's function.
    static LoadedFunction older(LoadedFunction loaded, int version, Processor<?, ?> processor) {
        Processing now = loaded.processing();
        if (version < 1 || version >= now.version()) {
            throw new IllegalArgumentException("The older version is " + version + "; it is at least 1 and below "
                    + now.version() + ", the version in the pipeline file");
        }
        Processing before = new Processing(
                now.program(), version, now.onNewVersion(), now.order(), now.keep(), now.tables(), now.feeds(), null);
        return LoadedFunction.of(loaded.pipeline().with(before), processor);
    }

    Pipeline pipeline() {
        return loaded.pipeline();
    }

    Processing processing() {
        return loaded.processing();
    }

    @Nullable
    LoadedFunction older() {
        return older;
    }

    int olderVersion() {
        return older == null ? 0 : older.processing().version();
    }

    /// The function that folds first: the older version, if there is one.
    StepFunction first() {
        return older == null ? now() : function(older, olderCalls);
    }

    StepFunction now() {
        return function(loaded, calls);
    }

    private static StepFunction function(LoadedFunction loaded, Calls calls) {
        return new StepFunction(loaded.renewed(), calls, _ -> {});
    }

    /// A mistake that calls have shown; empty if they have shown none.
    Optional<Failure> mistake() {
        return calls.mistake().or(olderCalls::mistake);
    }
}
