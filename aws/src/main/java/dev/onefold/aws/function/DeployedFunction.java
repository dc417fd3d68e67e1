package dev.onefold.aws.function;

import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.UserFunction;
import dev.onefold.aws.template.Environment;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.process.LoadedFunction;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.time.Duration;
import java.util.function.Supplier;

/// The user's function in the archive of a deployed function.
public final class DeployedFunction {
    private static final Duration CALL_MAX = Duration.ofSeconds(1);

    private DeployedFunction() {}

    /// The tables with the function that the pipeline names, where it names one.
    ///
    /// @throws IllegalStateException if the archive has another function than the template was written for
    static Store store(Environment environment) {
        Store store = environment.store();
        Pipeline pipeline = environment.pipeline();
        if (!(pipeline.fold() instanceof Processing processing) || processing.code() == null) {
            return store;
        }
        String said = processing.code().sha256();
        LoadedFunction loaded = LoadedFunction.load(pipeline, DeployedFunction.class.getClassLoader(), said);
        if (!PipelineText.write(loaded.pipeline()).equals(PipelineText.write(pipeline))) {
            throw new IllegalStateException("Class " + processing.programName()
                    + " of the archive has other types or tables than the one that the template was written for."
                    + " Write template and archive from the same jar.");
        }
        warnOfOther(loaded, said, System.out);
        return with(store, () -> loaded, System.out);
    }

    /// The tables with a function.
    ///
    /// @param loading loads the function when it is asked for first
    /// @param out gets a report of each impure function
    public static Store with(Store store, Supplier<LoadedFunction> loading, PrintStream out) {
        BoundedCalls calls = new BoundedCalls(CALL_MAX, Runtime.getRuntime().availableProcessors());
        return store.with(new UserFunction(
                loading,
                () -> calls,
                impurity -> out.println("WARN The function is not pure. Of key " + String.join(", ", impurity.key())
                        + " two equal calls came to different results: " + impurity.first() + " and "
                        + impurity.second())));
    }

    private static void warnOfOther(LoadedFunction loaded, String said, PrintStream out) {
        try {
            CodeSource source = loaded.source().orElse(null);
            if (said.isEmpty() || source == null) {
                return;
            }
            Path jar = Path.of(source.getLocation().toURI());
            String sha256 = Files.isRegularFile(jar) ? Sha256.hex(Files.readAllBytes(jar)) : said;
            if (!sha256.equals(said)) {
                out.println("WARN The archive has the function in a jar with SHA-256 " + sha256
                        + ", and the template was written for " + said + ", with the same version of the function");
            }
        } catch (IOException | URISyntaxException e) {
            out.println("WARN The jar of the function cannot be read: " + e.getMessage());
        }
    }
}
