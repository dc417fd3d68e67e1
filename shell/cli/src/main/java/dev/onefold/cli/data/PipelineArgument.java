package dev.onefold.cli.data;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.Capabilities;
import dev.onefold.core.Engine;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.embedded.DataFolder;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.yaml.PipelineFile;
import dev.onefold.yaml.PipelineFunction;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;

/// The pipeline that a command is about, and where its data lie on this machine.
public final class PipelineArgument implements EngineArgument {
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

    private final Caller caller;
    private @Nullable DataDirectory directory; // A function is loaded once.

    public PipelineArgument(Caller caller) {
        this.caller = caller;
    }

    /// The pipeline that a command is about beside others.
    ///
    /// @param pipeline its file, or its name
    /// @param data its data directory; `null` for the usual one
    public PipelineArgument(Caller caller, String pipeline, @Nullable String data) {
        this.caller = caller;
        this.pipeline = pipeline;
        this.data = data;
    }

    @Override
    public Caller caller() {
        return caller;
    }

    @Override
    public Capabilities capabilities() {
        return EmbeddedEngine.CAPABILITIES;
    }

    @Override
    public String place() {
        return caller.shown(directory().path());
    }

    @Override
    public boolean isOther(Engine engine) {
        return directory().isOther(engine.pipeline());
    }

    @Override
    public ExitCode read(Verb verb) throws IOException {
        return EngineAccess.read(directory(), caller, verb);
    }

    @Override
    public ExitCode readAgain(Verb verb) throws IOException {
        return EngineAccess.readAgain(directory(), caller, verb);
    }

    @Override
    public ExitCode use(Verb verb) throws IOException {
        return EngineAccess.use(directory(), caller, verb);
    }

    @Override
    public ExitCode ask(Question question) throws IOException {
        return EngineAccess.ask(directory(), caller, question);
    }

    /// The file or the name, as it was given.
    String given() {
        return pipeline;
    }

    /// As it must be said again for the same data: ` --data DIR`, or nothing.
    public String dataAgain() {
        return data == null ? "" : " --data " + data;
    }

    /// The folder of the pipeline file; the current directory if the pipeline is given by its name.
    public Path folder() {
        Path file = caller.path(pipeline).toAbsolutePath();
        Path parent = directory().definition() == null ? null : file.getParent();
        return parent == null ? caller.path("") : parent;
    }

    /// The directory of a pipeline that may be given by file or by name.
    public DataDirectory directory() {
        if (directory == null) {
            directory = find();
        }
        return directory;
    }

    private DataDirectory find() {
        if (isFile(caller, pipeline)) {
            Pipeline definition = read(caller, pipeline);
            PipelineFunction function = function(definition);
            Pipeline bound = function == null ? definition : function.function().pipeline();
            return new DataDirectory(path(definition.name()), definition.name(), bound, function);
        }
        if (isName(pipeline) && DataFolder.exists(path(pipeline))) {
            return new DataDirectory(path(pipeline), pipeline, null);
        }
        String name =
                isName(pipeline) ? ", and no pipeline of this name has data in " + caller.shown(path(pipeline)) : "";
        throw missing(caller, pipeline, name);
    }

    private @Nullable PipelineFunction function(Pipeline definition) {
        if (!(definition.fold() instanceof Processing)) {
            return null;
        }
        try {
            return PipelineFunction.load(caller.path(pipeline), definition);
        } catch (IllegalArgumentException e) {
            return null; // The data have a copy of the code that folded them.
        }
    }

    /// The same with its function, which must be there.
    ///
    /// @throws CommandFailure saying why it cannot be loaded
    public DataDirectory directoryWithFunction() {
        DataDirectory found = directory();
        if (found.function() == null
                && found.definition() != null
                && found.definition().fold() instanceof Processing) {
            function(caller, pipeline, found.definition());
        }
        return found;
    }

    /// The function that a pipeline file names.
    ///
    /// @throws CommandFailure saying why it cannot be loaded
    public static PipelineFunction function(Caller caller, String file, Pipeline definition) {
        try {
            return PipelineFunction.load(caller.path(file), definition);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.DIFFERENT, e.getMessage() + ".", e);
        }
    }

    /// The pipeline of a file, or `null` for a name.
    ///
    /// @throws CommandFailure if a text is neither
    public static @Nullable Pipeline readOrNamed(Caller caller, String text) {
        if (isFile(caller, text)) {
            return read(caller, text);
        }
        if (isName(text)) {
            return null;
        }
        throw missing(caller, text, "");
    }

    /// Whether a text on the command line is the path of a file.
    public static boolean isFile(Caller caller, String text) {
        return Files.isRegularFile(caller.path(text));
    }

    /// Whether a text can be the name of a pipeline.
    public static boolean isName(String text) {
        return text.matches("[a-z0-9-]{1," + Limits.NAME_LENGTH_MAX + "}");
    }

    /// The failure for a text that is neither.
    ///
    /// @param name says more about it as a name; may be empty
    public static CommandFailure missing(Caller caller, String text, String name) {
        return CommandFailure.usage("There is no pipeline file " + caller.shown(caller.path(text)) + name
                + ".\nGive the path of the pipeline file.");
    }

    private Path path(String name) {
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
        return base(caller).resolve(name);
    }

    /// The folder of data directories that nobody has said otherwise.
    public static Path base(Caller caller) {
        return caller.path(caller.environment().getOrDefault(BASE_VARIABLE, BASE_DEFAULT));
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
                caller.note(loaded.problems(caller.shown(file), caller.screen().errWidth()));
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        caller.shown(file) + " has " + (count == 1 ? "1 problem." : count + " problems."));
            }
        };
    }
}
