package dev.onefold.cli.data;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.Capabilities;
import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Engine;
import dev.onefold.embedded.EmbeddedEngine;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/// The pipeline that a verb is about, and the place of its engine: a data directory, a service or a deployment.
public final class PlacedPipeline implements EngineArgument {
    /// The environment variable with the token for a service.
    public static final String TOKEN_VARIABLE = "ONEFOLD_TOKEN";

    private static final String DEPLOYMENT = "aws:";
    private static final int TOKEN_BYTES_MAX = 16 << 10;

    /// Any scheme with slashes; the schemes of a service; a host and a port.
    private static final Pattern ADDRESS_LIKE = Pattern.compile("://|^(?i:https?):|^[^/]+:[0-9]+(/|$)");

    @Mixin
    private final PipelineArgument directory;

    @Option(
            names = "--at",
            scope = ScopeType.INHERIT,
            paramLabel = "PLACE",
            description = "Where the pipeline runs: a data directory; a service, https://HOST or http://HOST:PORT; or"
                    + " aws:NAME, a deployment on AWS.")
    private @Nullable String at;

    @Option(
            names = "--token-file",
            scope = ScopeType.INHERIT,
            paramLabel = "FILE",
            description = "With --at of a service: the file that holds the token. Default: the variable "
                    + TOKEN_VARIABLE + ".")
    private @Nullable String tokenFile;

    @Mixin
    private final PlaceOptions aws;

    private final Caller caller;
    private final Deployments deployments;
    private @Nullable EngineArgument chosen; // Once the options are there.
    private boolean isForSource;

    /// The deployments on AWS.
    public interface Deployments {
        /// The pipeline of a deployment.
        ///
        /// @param pipeline its file or its name
        /// @param deployment its name; empty if that is the name of the pipeline
        EngineArgument of(String pipeline, String deployment, PlaceOptions place);
    }

    /// @param aws where the parts of AWS are
    public PlacedPipeline(Caller caller, PlaceOptions aws, Deployments deployments) {
        this.caller = caller;
        this.aws = aws;
        this.deployments = deployments;
        directory = new PipelineArgument(caller);
    }

    private EngineArgument chosen() {
        if (chosen == null) {
            chosen = choose();
        }
        return chosen;
    }

    @Override
    public void useForSource() {
        isForSource = true;
    }

    @Override
    public boolean isPlaced() {
        return at != null || tokenFile != null || aws.isGiven();
    }

    @Override
    public boolean isOfService() {
        return chosen() instanceof ServicePipeline;
    }

    private EngineArgument choose() {
        String place = at;
        if (place != null && !directory.dataAgain().isEmpty()) {
            throw CommandFailure.usage("--at and --data say the same; give one of them.");
        }
        boolean isDeployment = place != null && place.startsWith(DEPLOYMENT);
        URI address = place == null || isDeployment ? null : address(place);
        if (tokenFile != null && address == null) {
            throw CommandFailure.usage("--token-file goes with --at https://HOST or --at http://HOST:PORT.");
        }
        if (aws.isGiven() && !isDeployment && !isForSource) {
            throw CommandFailure.usage(
                    "--region, --profile and --endpoint go with --at aws:NAME, or with 'onefold aws'.");
        }
        if (aws.comparing().isGiven() && !isDeployment) {
            throw CommandFailure.usage(
                    "--retries and --kinesis-endpoint go with --at aws:NAME, or with 'onefold aws'.");
        }
        if (place == null) {
            return directory;
        }
        if (address != null) {
            return new ServicePipeline(caller, directory.given(), address, token());
        }
        return isDeployment
                ? deployments.of(directory.given(), place.substring(DEPLOYMENT.length()), aws)
                : new PipelineArgument(caller, directory.given(), place);
    }

    /// The address of a service; `null` for a directory. A typing error in an address must not become the name of a
    /// directory, but a directory that exists may have any name.
    private @Nullable URI address(String text) {
        try {
            URI address = new URI(text);
            if (List.of("http", "https").contains(String.valueOf(address.getScheme())) && address.getHost() != null) {
                return address;
            }
        } catch (URISyntaxException _) {
            // It may be a directory.
        }
        if (!ADDRESS_LIKE.matcher(text).find() || Files.isDirectory(caller.path(text))) {
            return null;
        }
        throw CommandFailure.usage(
                "--at has no address of a service: write a scheme and a host, such as https://HOST or"
                        + " http://HOST:PORT, for example http://localhost:8080. No directory has this name, either.");
    }

    /// The message of a failure never has the token.
    private @Nullable String token() {
        if (tokenFile == null) {
            String token = caller.environment().get(TOKEN_VARIABLE);
            return token == null || token.isEmpty() ? null : token;
        }
        Path file = caller.path(tokenFile);
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(TOKEN_BYTES_MAX), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new CommandFailure(
                    ExitCode.USAGE, "The file of --token-file, " + caller.shown(file) + ", cannot be read.", e);
        }
    }

    @Override
    public Caller caller() {
        return caller;
    }

    @Override
    public Capabilities capabilities() {
        return at == null ? EmbeddedEngine.CAPABILITIES : chosen().capabilities();
    }

    /// Each verb and option is there; the engine refuses what it cannot do.
    @Override
    public boolean mayHave(Capability capability) {
        return true;
    }

    @Override
    public String place() {
        return chosen().place();
    }

    @Override
    public Optional<PipelineArgument> here() {
        return chosen() instanceof PipelineArgument directory ? Optional.of(directory) : Optional.empty();
    }

    @Override
    public String command(String verb, String name) {
        return "onefold " + verb + " " + name + (at == null ? directory.dataAgain() : " --at " + at);
    }

    @Override
    public boolean isOther(Engine engine) {
        return chosen().isOther(engine);
    }

    @Override
    public ExitCode read(Verb verb) throws IOException {
        return chosen().read(verb);
    }

    @Override
    public ExitCode readAgain(Verb verb) throws IOException {
        return chosen().readAgain(verb);
    }

    @Override
    public ExitCode use(Verb verb) throws IOException {
        return chosen().use(verb);
    }

    @Override
    public ExitCode ask(Question question) throws IOException {
        return chosen().ask(question);
    }
}
