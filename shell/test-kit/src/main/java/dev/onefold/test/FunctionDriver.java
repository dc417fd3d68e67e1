package dev.onefold.test;

import dev.onefold.core.process.LoadedFunction;
import dev.onefold.process.Processor;
import dev.onefold.test.Sample.Item;
import dev.onefold.yaml.PipelineFile;
import dev.onefold.yaml.PipelineFunction;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Sends records to a function one by one, as an engine would, and shows what they come to. Not thread-safe.
///
/// ```java
/// FunctionDriver driver = FunctionDriver.of(Path.of("runs.yaml"), new Runs());
/// driver.send("{…}", "{…}");
/// assertThat(driver.tables().rows("stats", Runs.Stats.class)).containsExactly(…);
/// ```
public final class FunctionDriver {
    private final Subject subject;
    private final Life life;
    private final List<String> letters = new ArrayList<>();

    private FunctionDriver(LoadedFunction function) {
        subject = new Subject(function, null);
        life = new Life(subject);
    }

    /// The function that a pipeline file names, from the jar beside the file or the class path.
    ///
    /// @throws IllegalArgumentException with all that is wrong with the file, its jar or its class
    public static FunctionDriver of(Path pipelineFile) {
        return of(PipelineFunction.load(pipelineFile).function());
    }

    /// A function that is here already, behind a pipeline file.
    ///
    /// @throws IllegalArgumentException with all that is wrong with the file or the function
    public static FunctionDriver of(Path pipelineFile, Processor<?, ?> function) {
        return of(LoadedFunction.of(PipelineFile.pipeline(pipelineFile), function));
    }

    /// A function that is bound to its pipeline.
    public static FunctionDriver of(LoadedFunction function) {
        return new FunctionDriver(function);
    }

    /// Folds records, each in a step of its own. Of CSV the first line of each call is the header.
    ///
    /// @throws AssertionError if two calls of the function with equal arguments had different results, or a call
    ///     took too long
    public void send(String... records) {
        Sample sample = Sample.of(subject.pipeline(), List.of(records));
        letters.addAll(sample.malformed());
        for (Item item : sample.items().values()) {
            life.deliver(List.of(item), Fate.STORED);
        }
        letters.addAll(life.takeLetters());
        subject.mistake().ifPresent(mistake -> {
            throw new AssertionError((mistake.kind() == Failure.Kind.SLOW
                            ? "The function did not return within 1 s, the limit of a call\n"
                            : "The function is not pure: equal arguments had different results\n")
                    + mistake.details());
        });
    }

    /// Goes on as a new process does: from the stored bytes, with a new object of the function's class.
    public void restart() {
        life.restart();
    }

    /// Contexts and tables as they are now.
    public Tables tables() {
        return new Tables(subject.pipeline(), subject.processing(), life.stored());
    }

    /// Why records became dead letters, in the order in which they did. Lines are those of one call of [#send].
    public List<String> letters() {
        return List.copyOf(letters);
    }
}
