package dev.onefold.cli.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.api.Scope;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.server.HttpService;
import dev.onefold.server.Served;
import dev.onefold.server.Settings;
import dev.onefold.server.Tokens;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The verbs on an engine by its place: the engine is that of a service, and its data directory is there, too.
@Timeout(120)
class PlacedPipelineTest {
    private static final String BURSTS = """
            pipeline: bursts
            input: {id: id}
            batch: {size: 2, wait: 1h, deliver: {file: "out/{number}.ndjson"}}
            """;

    @TempDir
    Path folder;

    private Cli cli;
    private EmbeddedEngine trades;
    private EmbeddedEngine bursts;
    private HttpService service;
    private String address;

    @BeforeEach
    void serve() throws IOException {
        cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
        cli.write("bursts.yaml", BURSTS);
        cli.write("all.token", "s3cr3t-all\n");
        trades = engine("trades.yaml", "trades");
        bursts = engine("bursts.yaml", "bursts");
        trades.append(
                "one",
                List.of(
                        Cli.trade("1", 1, "FX", "EMEA", "2.50").strip(),
                        Cli.trade("2", 1, "Rates", "EMEA", "4").strip(),
                        "garbage",
                        "worse"));
        bursts.append("one", List.of("{\"id\":1}", "{\"id\":2}", "{\"id\":3}"));
        Tokens tokens = Tokens.read(List.of(
                Tokens.line("all", "s3cr3t-all", EnumSet.allOf(Scope.class), List.of(Tokens.ALL)),
                Tokens.line("reader", "s3cr3t-reader", EnumSet.of(Scope.READ), List.of("trades"))));
        service = HttpService.open(
                new Settings(InetAddress.getLoopbackAddress(), 0, null, tokens, Settings.Limits.USUAL),
                List.of(Served.of(trades, null), Served.of(bursts, null)));
        address = "http://localhost:" + service.uri().getPort();
    }

    private EmbeddedEngine engine(String file, String name) {
        return EmbeddedEngine.open(
                folder.resolve(name),
                PipelineArgument.read(
                        cli.caller(
                                InputStream.nullInputStream(),
                                new ByteArrayOutputStream(),
                                new ByteArrayOutputStream()),
                        file),
                dev.onefold.embedded.Settings.defaults());
    }

    @AfterEach
    void close() throws IOException {
        service.close();
        trades.close();
        bursts.close();
    }

    private Result at(String command, String... place) {
        return cli.run(
                Stream.concat(Stream.of(command.split(" ")), Stream.of(place)).toArray(String[]::new));
    }

    private Result atService(String command) {
        return at(command, "--at", address, "--token-file", "all.token");
    }

    private static String timeless(Result result) {
        return result.exitCode() + "\n"
                + result.out().replaceAll("\"at\":\"[^\"]*\"|At 20.* UTC|\"checkpointAgeMs\":\\d+", "") + result.err();
    }

    @Test
    void every_verb_says_the_same_of_a_data_directory_by_either_option_and_of_the_service_on_it() {
        for (String command : List.of(
                "query trades.yaml",
                "query trades --format json",
                "query trades.yaml --group nobody",
                "get trades.yaml 1",
                "get trades 1 2",
                "status trades --format json",
                "verify trades.yaml",
                "verify trades.yaml --sample 2",
                "verify trades.yaml --from-sources",
                "rebuild trades",
                "journal trades",
                "export trades --table none -o -",
                "dead-letters trades.yaml list",
                "dead-letters trades show 1",
                "dead-letters trades show 9",
                "batches bursts.yaml list",
                "batches bursts show 1",
                "query bursts")) {
            String data = command.contains("bursts") ? "bursts" : "trades";
            String expected = timeless(at(command, "--data", data));
            assertThat(expected).as(command).doesNotContain("bug");
            assertThat(timeless(at(command, "--at", data))).as(command).isEqualTo(expected);
            assertThat(timeless(atService(command))).as(command).isEqualTo(expected);
        }
        assertThat(atService("status trades").out()).contains(address);
    }

    @Test
    void letters_are_redriven_and_purged_and_batches_are_sealed_in_a_service() {
        cli.write("edit.json", Cli.trade("3", 1, "FX", "EMEA", "1"));
        Result redriven = atService("dead-letters trades.yaml redrive 1 --file edit.json");
        assertThat(redriven.exitCode()).as(redriven.err()).isZero();
        Result purged = atService("dead-letters trades purge 2 --yes");
        assertThat(purged.exitCode()).as(purged.err()).isZero();
        assertThat(trades.deadLetters().size()).isZero();
        assertThat(atService("query trades --depth 0 --format csv").out()).contains("7.50,3");
        assertThat(atService("batches bursts seal").out()).isEqualTo("Sealed batch 2.\n");
    }

    @Test
    void the_token_comes_from_a_file_or_the_environment_and_the_scope_that_it_lacks_is_named() {
        Cli reader = new Cli(folder, cli.screen(), Map.of(PlacedPipeline.TOKEN_VARIABLE, "s3cr3t-reader"));
        assertThat(reader.run("query", "trades.yaml", "--at", address).exitCode())
                .isZero();
        Result refused = reader.run("dead-letters", "trades.yaml", "list", "--at", address + "/");
        assertThat(refused.exitCode()).isEqualTo(3);
        assertThat(refused.err()).contains("The token does not allow to operate in pipeline trades.");
        assertThat(new Cli(folder, cli.screen(), Map.of(PlacedPipeline.TOKEN_VARIABLE, ""))
                        .run("query", "trades.yaml", "--at", address)
                        .err())
                .contains("The request has no token.");
        assertThat(at("query trades", "--at", address).err()).contains("The request has no token.", "ONEFOLD_TOKEN");
        cli.write("wrong.token", "s3cr3t wrong\n");
        for (String file : List.of("wrong.token", "absent.token", ".")) {
            Result wrong = at("query trades", "--at", address, "--token-file", file);
            assertThat(wrong.exitCode()).as(wrong.err()).isEqualTo(2);
            assertThat(wrong.err()).doesNotContain("s3cr3t", "bug");
        }
        assertThat(atService("query absent").err()).contains("has no pipeline absent for this caller; it has");
    }

    @Test
    void a_file_that_says_something_else_than_the_service_is_noted() {
        cli.write("trades.yaml", Cli.TRADES.replace("trades: count()", "number: count()"));
        Result other = atService("query trades.yaml");
        assertThat(other.exitCode()).isZero();
        assertThat(other.out()).contains("trades").doesNotContain("number");
        assertThat(other.err()).contains("the pipeline that the service runs, which is not the file's");
    }

    @Test
    void a_place_that_looks_like_an_address_and_is_none_is_refused_unless_the_directory_is_there() throws IOException {
        for (String each :
                List.of("x/y://z", "https:", "https:/HOST", "https:///trades", "localhost:8080", "HOST:1/a")) {
            Result refused = at("query trades", "--at", each);
            assertThat(refused.exitCode()).as(each + refused.err()).isEqualTo(2);
            assertThat(refused.err()).as(each).contains("--at has no address of a service", "http://localhost:8080");
        }
        Files.createSymbolicLink(folder.resolve("localhost:8080"), folder.resolve("trades"));
        assertThat(at("query trades", "--at", "localhost:8080").exitCode()).isZero();
    }

    @Test
    void the_text_of_a_place_never_has_the_token() {
        ServicePipeline place = new ServicePipeline(
                cli.caller(InputStream.nullInputStream(), new ByteArrayOutputStream(), new ByteArrayOutputStream()),
                "trades",
                URI.create(address),
                "s3cr3t");
        assertThat(place).hasToString("trades at " + address);
    }

    @Test
    void options_that_do_not_go_together_or_with_a_place_are_refused_with_the_reason() {
        Map.of(
                        "query trades --at trades --data trades",
                        "--at and --data say the same",
                        "query trades --token-file all.token",
                        "--token-file goes with --at https://HOST",
                        "query trades --at ftp://host",
                        "https://HOST or http://HOST:PORT",
                        "query trades --at https://s3cr3t@host",
                        "without a user, a query or a fragment",
                        "query trades --at http://[",
                        "--at has no address of a service",
                        "reset trades --at " + address + " --token-file all.token",
                        "A reset is refused while an engine runs. Stop the service at",
                        "seed trades --from x --at trades --data trades",
                        "--at and --data say the same")
                .forEach((command, message) -> {
                    Result refused = at(command);
                    assertThat(refused.exitCode()).as(refused.err()).isEqualTo(2);
                    assertThat(refused.err()).contains(message).doesNotContain("s3cr3t");
                });
        Map.of(
                        "verify trades --published --at " + address + " --token-file all.token",
                        "Run 'onefold verify --published' on the machine of the service",
                        "query trades --data trades --region eu-central-1",
                        "--region, --profile and --endpoint go with --at aws:NAME",
                        "verify trades --data trades --against rows.csv --profile mine",
                        "--region, --profile and --endpoint go with --at aws:NAME",
                        "query trades --endpoint http://localhost:8000 --token-file all.token --at " + address,
                        "--region, --profile and --endpoint go with --at aws:NAME",
                        "verify trades --against rows.csv --retries https://sqs.eu-central-1.amazonaws.com/1/r",
                        "--retries and --kinesis-endpoint go with --at aws:NAME",
                        "query trades --at aws:trades --token-file all.token",
                        "--token-file goes with --at https://HOST",
                        "batches verify trades --at " + address,
                        "Leave out --at",
                        "query trades --at http://host.invalid --token-file all.token",
                        "use https:// for it")
                .forEach((command, message) -> {
                    Result refused = at(command);
                    assertThat(refused.exitCode()).as(command + refused.err()).isEqualTo(2);
                    assertThat(refused.err()).contains(message).doesNotContain("s3cr3t");
                });
        assertThat(at("query trades", "--at", "nowhere").err())
                .contains("no pipeline of this name has data in nowhere");
    }
}
