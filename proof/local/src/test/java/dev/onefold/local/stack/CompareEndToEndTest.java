package dev.onefold.local.stack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.resync.SeedLease;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.template.Template;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.cli.Onefold;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.Screen;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.local.function.FunctionFaults;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The same as [TableEndToEndTest], where the command of docs/tables.md for each day compares the rows with the table
/// and repairs them.
class CompareEndToEndTest {
    private static final int SANDBOXES = 2;
    private static final int BEFORE_THE_STREAM = 30;
    private static final int CHANGES_MEANWHILE = 5;
    private static final String TEXT = """
            {"pipeline":"favourites","input":{"format":"dynamodb-stream","table":"Favourites","key":["user","restaurant"]},
            "rollup":{"levels":["city","restaurant"],"measures":{
            "stars":"sum(stars) decimal(18,2)","favourites":"count()",
            "best":"max(stars) decimal(18,2)","users":"distinct(user)"}}}""";
    private static final Pipeline PIPELINE = ((Reading.Read) PipelineText.read(TEXT)).pipeline();
    private static final Pattern RECIPE = Pattern.compile("(?m)^onefold ((?:.*\\\\\n)*.*) >> compared\\.ndjson");
    private static final Map<String, String> CREDENTIALS =
            Map.of("aws.accessKeyId", "OPERATOR", "aws.secretAccessKey", "secret");

    private static final String OBJECTS = "aws.endpointUrlS3";

    @TempDir
    private Path folder;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @BeforeEach
    void begin() throws IOException {
        CREDENTIALS.forEach(System::setProperty);
        Files.writeString(folder.resolve("favourites.yaml"), TEXT);
    }

    @AfterEach
    void end() {
        CREDENTIALS.keySet().forEach(System::clearProperty);
        System.clearProperty(OBJECTS);
    }

    private static LocalDeployment deployment(StackFaults faults, GivenTable table) throws IOException {
        return LocalDeployment.open(
                new StackRequest(
                        "favourites",
                        Template.of(PIPELINE, Input.TABLE).yaml(),
                        Map.of("BatchSize", "40", "Gates", "64", "TickMinutes", "1"),
                        Optional.of(table)),
                Parts.machine(SANDBOXES),
                faults);
    }

    /// What State would have taken of a change that the table does not have any more: its removal is lost.
    private static void takeGhost(LocalDeployment deployment, Store store) {
        String change = """
                {"eventName":"INSERT","SequenceNumber":"1","eventSourceARN":"%s",
                "Keys":{"user":"ghost","restaurant":"restaurant-1"},
                "NewImage":{"user":"ghost","restaurant":"restaurant-1","city":"city-0","stars":1}}""".formatted(deployment.value("InputStreamArn"));
        StateAndMap.process(store, List.of(new Arrival("stream", "1", 0, change.getBytes(StandardCharsets.UTF_8), 1)));
    }

    /// Runs the command of the page, at the deployment's address.
    private int compare(LocalDeployment deployment) {
        Matcher recipe;
        try {
            recipe = RECIPE.matcher(Files.readString(Path.of("../..", "docs", "tables.md")));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        assertThat(recipe.find()).isTrue();
        List<String> arguments = new ArrayList<>(
                List.of(recipe.group(1).replace("\\\n", " ").strip().split("\\s+", -1)));
        URI retries = deployment
                .endpoint()
                .resolve(URI.create(deployment.value("Retries")).getPath());
        arguments.addAll(List.of(
                "--region", "eu-central-1",
                "--endpoint", deployment.endpoint().toString(),
                "--retries", retries.toString()));
        Caller caller = new Caller(
                InputStream.nullInputStream(),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                folder,
                Map.of(),
                Screen.pipe());
        return Onefold.execute(caller, arguments);
    }

    private String said() {
        return out.toString(StandardCharsets.UTF_8) + err.toString(StandardCharsets.UTF_8);
    }

    @Test
    @Tag("campaign")
    void the_command_of_each_day_finds_and_repairs_rows_that_the_stream_never_told_of() throws IOException {
        long seed = 12;
        StackFaults faults = new StackFaults(seed, EndToEnd.FAULTS, FunctionFaults.NONE, FunctionFaults.NONE, 0.03);
        GivenTable table =
                new GivenTable(Favourites.table(), client -> Favourites.putBefore(client, BEFORE_THE_STREAM));
        try (LocalDeployment deployment = deployment(faults, table)) {
            System.setProperty(OBJECTS, deployment.endpoint().toString());
            Store store = deployment.store();
            Favourites favourites = new Favourites(store, seed);
            Store past = new Store(
                    store.client(),
                    store.tables(),
                    store.threads(),
                    store.random(),
                    InstantSource.offset(InstantSource.system(), Duration.ofDays(-1)));
            SeedLease.begin(past, 1); // Of a seeding that was killed.
            CompletableFuture<Integer> comparing;
            try (SeedLease seeding = SeedLease.begin(store, 0)) { // The comparison waits as long as one runs.
                favourites.change(60);
                favourites.comeBroken(); // Its letter explains why the row is not here.
                deployment.drained(Duration.ofMinutes(5)).join();
                seeding.renew();
                takeGhost(deployment, store);
                comparing = CompletableFuture.supplyAsync(() -> compare(deployment));
                while (!said().contains("Waits for a seeding")) {
                    assertThat(comparing).as(this::said).isNotDone();
                    store.threads().pause(Duration.ofMillis(100));
                }
            }
            for (int i = 0; i < CHANGES_MEANWHILE; i++) {
                favourites.change(1);
            }
            assertThat(comparing.join()).as(this::said).isZero();
            assertThat(out.toString(StandardCharsets.UTF_8))
                    .contains("\"equal\":true")
                    .containsPattern("\"missing\":\\{[^}]*\"repaired\":" + BEFORE_THE_STREAM + ",")
                    .containsPattern("\"ghost\":\\{[^}]*\"repaired\":1,")
                    .containsPattern("\"refused\":\\{[^}]*\"explained\":[1-9]");
            deployment.drained(Duration.ofMinutes(5)).join();
            EndToEnd.assertRight(deployment, favourites.totals());
        }
    }
}
