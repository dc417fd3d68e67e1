package dev.onefold.cli.data;

import dev.onefold.cli.call.Call;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.yaml.PipelineFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;

/// The pipeline that a command is about, and where its data lie.
public final class PipelineArgument {
    /// The environment variable that says where data directories lie.
    public static final String BASE_VARIABLE = "ONEFOLD_DATA";

    private static final String BASE_DEFAULT = "onefold-data";

    @Parameters(
            index = "0",
            paramLabel = "PIPELINE",
            description =
                    "The pipeline file; or the name of a pipeline that has run, to take what is stored with its data.")
    private String pipeline = "";

    @Option(
            names = "--data",
            scope = ScopeType.INHERIT,
            paramLabel = "DIR",
            description = "The data directory. Default: " + BASE_DEFAULT + "/ and the name of the pipeline;"
                    + " the variable " + BASE_VARIABLE + " says another folder than " + BASE_DEFAULT + ".")
    private @Nullable String data;

    /// As it stands on the command line.
    public String text() {
        return pipeline;
    }

    /// As it must be said again for the same data: ` --data DIR`, or nothing.
    public String dataAgain() {
        return data == null ? "" : " --data " + data;
    }

    /// The directory of a pipeline that may be given by file or by name.
    public DataDirectory directory(Call call) {
        Caller caller = call.caller();
        Path file = caller.path(pipeline);
        if (Files.isRegularFile(file)) {
            return fromFile(caller);
        }
        boolean name = pipeline.matches("[a-z0-9-]{1," + Limits.NAME_LENGTH_MAX + "}");
        if (name && (call.live() != null || Files.isDirectory(path(caller, pipeline)))) {
            return new DataDirectory(path(caller, pipeline), pipeline, null);
        }
        throw CommandFailure.usage("There is no pipeline file " + caller.shown(file)
                + (name ? ", and no pipeline of this name has data in " + caller.shown(path(caller, pipeline)) : "")
                + ".\nGive the path of the pipeline file.");
    }

    /// The directory of a pipeline whose file is needed.
    public DataDirectory fromFile(Caller caller) {
        Pipeline definition = read(caller, pipeline);
        return new DataDirectory(path(caller, definition.name()), definition.name(), definition);
    }

    private Path path(Caller caller, String name) {
        if (data != null) {
            if (data.isEmpty()) {
                throw CommandFailure.usage("--data is empty. It names a folder: the data directory of a pipeline.");
            }
            Path path = caller.path(data);
            if (Files.isSymbolicLink(path) && !Files.exists(path)) {
                throw CommandFailure.usage(caller.shown(path)
                        + " is a symbolic link to something that is not there. --data names a folder: the data directory of a"
                        + " pipeline.");
            }
            if (Files.exists(path) && !Files.isDirectory(path)) {
                throw CommandFailure.usage(
                        caller.shown(path) + " is a file. --data names a folder: the data directory of a pipeline.");
            }
            return path;
        }
        return caller.path(caller.environment().getOrDefault(BASE_VARIABLE, BASE_DEFAULT))
                .resolve(name);
    }

    /// The pipeline of a file.
    ///
    /// @throws CommandFailure with all that is wrong with it
    public static Pipeline read(Caller caller, String text) {
        Path file = caller.path(text);
        if (Files.isDirectory(file)) {
            throw CommandFailure.usage(caller.shown(file) + " is a folder. Give the path of the pipeline file.");
        }
        if (!Files.exists(file)) {
            throw CommandFailure.usage("There is no pipeline file " + caller.shown(file) + ".");
        }
        PipelineFile loaded = PipelineFile.load(file);
        return switch (loaded.reading()) {
            case Reading.Read(Pipeline definition) -> definition;
            case Reading.Refused refused -> {
                int count = refused.problems().size();
                caller.err()
                        .println(loaded.problems(
                                caller.shown(file), caller.screen().errWidth()));
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        caller.shown(file) + " has " + (count == 1 ? "1 problem." : count + " problems."));
            }
        };
    }
}
