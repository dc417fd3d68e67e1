package dev.onefold.test;

import dev.onefold.core.process.LoadedFunction;
import dev.onefold.process.Processor;
import dev.onefold.yaml.PipelineFile;
import dev.onefold.yaml.PipelineFunction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/// Checks a function per key on a sample of its records:
///
/// ```java
/// @Test void the_tables_are_right_whatever_happens() {
///     Tables tables = FunctionCheck.of(Path.of("runs.yaml"), new Runs())
///             .events(Path.of("sample.ndjson"))
///             .check();
///     assertThat(tables.rows("stats")).contains("…");
/// }
/// ```
///
/// Each run draws from its seed an order of arrival, duplicates, how the records are cut into steps, crashes before and
/// after a step is stored, and two processes that fold one key at once. It folds them by the rules that the engines
/// have, from and to stored bytes. Then contexts and tables have to be those of folding the accepted events from the
/// beginning. Every call is made twice, and equal arguments have to give equal results in all runs. With `latest` and
/// `every` the result must also be the same in any order of arrival: see [#allowingDependenceOnOrder].
///
/// A failure is an [AssertionError] that names the seed, what differs, and the shortest order of arrival that was found
/// to fail. Immutable: each method returns another check.
public final class FunctionCheck {
    private static final int RUNS_DEFAULT = 100;

    private final LoadedFunction loaded;
    private final @Nullable LoadedFunction older;
    private final List<String> lines;
    private final Seeds seeds;

    /// Which runs there are.
    private record Seeds(long from, int count, boolean anyOrder) {}

    private FunctionCheck(LoadedFunction loaded, @Nullable LoadedFunction older, List<String> lines, Seeds seeds) {
        this.loaded = loaded;
        this.older = older;
        this.lines = List.copyOf(lines);
        this.seeds = seeds;
    }

    /// The function that a pipeline file names, from the jar beside the file or the class path.
    ///
    /// @throws IllegalArgumentException with all that is wrong with the file, its jar or its class
    public static FunctionCheck of(Path pipelineFile) {
        return of(PipelineFunction.load(pipelineFile).function());
    }

    /// A function that is here already, behind a pipeline file. For each run and after each crash it is a new object of
    /// its class, if the class has a public constructor without parameters.
    ///
    /// @throws IllegalArgumentException with all that is wrong with the file or the function
    public static FunctionCheck of(Path pipelineFile, Processor<?, ?> function) {
        return of(LoadedFunction.of(PipelineFile.pipeline(pipelineFile), function));
    }

    /// A function that is bound to its pipeline.
    public static FunctionCheck of(LoadedFunction function) {
        return new FunctionCheck(function, null, List.of(), new Seeds(0, RUNS_DEFAULT, true));
    }

    /// The same with more records: a file, one record a line.
    public FunctionCheck events(Path file) {
        try {
            return events(Files.readAllLines(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The same with more records.
    public FunctionCheck events(String... records) {
        return events(List.of(records));
    }

    /// The same with more records. Of CSV the first line is the header.
    public FunctionCheck events(List<String> records) {
        List<String> more = new ArrayList<>(lines);
        more.addAll(records);
        return new FunctionCheck(loaded, older, more, seeds);
    }

    /// The same with so many runs; the default is 100. The first run has the records as they are.
    public FunctionCheck runs(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("Runs are " + count + "; there is at least 1");
        }
        return new FunctionCheck(loaded, older, lines, new Seeds(seeds.from, count, seeds.anyOrder));
    }

    /// The same with one run alone: the one that a failure names.
    public FunctionCheck seed(long seed) {
        return new FunctionCheck(loaded, older, lines, new Seeds(seed, 1, seeds.anyOrder));
    }

    /// The same for a function whose result may depend on the order of arrival: with `latest` and `every`, whose users
    /// know that the events of a key come in order.
    public FunctionCheck allowingDependenceOnOrder() {
        return new FunctionCheck(loaded, older, lines, new Seeds(seeds.from, seeds.count, false));
    }

    /// The same with an older version of the function that folds first. At some point of each run the newer one goes on
    /// from the contexts that the older one has stored.
    ///
    /// @param version that the pipeline file had then
    /// @param function as it was then; its context may be of another type
    public FunctionCheck upgradesFrom(int version, Processor<?, ?> function) {
        return new FunctionCheck(loaded, Subject.older(loaded, version, function), lines, seeds);
    }

    /// Runs all seeds.
    ///
    /// @return what the records come to in the order of their versions
    /// @throws AssertionError if the function breaks a promise
    public Tables check() {
        Sample sample = Sample.of(loaded.pipeline(), lines);
        if (sample.items().isEmpty()) {
            throw new IllegalArgumentException("The sample has no record that can be folded"
                    + (sample.malformed().isEmpty()
                            ? ""
                            : "; " + sample.malformed().getFirst()));
        }
        Trial trial = new Trial(new Subject(loaded, older), sample, olderSample(sample), seeds.anyOrder);
        for (long seed = seeds.from; seed < seeds.from + seeds.count; seed++) {
            Plan plan = seed == 0
                    ? Plan.asItIs(sample, older != null)
                    : Plan.of(sample, loaded.processing(), older != null, new SplittableRandom(seed));
            Optional<Failure> failure = trial.judge(plan);
            if (failure.isPresent()) {
                throw new AssertionError(trial.report(seed, plan, failure.get()));
            }
        }
        return new Tables(
                loaded.pipeline(),
                loaded.processing(),
                loaded.processing().sharesRows(loaded.pipeline().input())
                        ? trial.stored(Plan.asItIs(sample, older != null))
                        : trial.inOrder(List.copyOf(sample.items().keySet())));
    }

    private Sample olderSample(Sample sample) {
        return older == null ? sample : Sample.of(older.pipeline(), lines);
    }
}
