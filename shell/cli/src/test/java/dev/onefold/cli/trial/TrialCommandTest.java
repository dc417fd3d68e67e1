package dev.onefold.cli.trial;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.Connection;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.cli.aws.AwsCommand;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.deploy.Board;
import dev.onefold.cli.deploy.Services;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.load.TradeRiskLoad;
import dev.onefold.load.TradeRiskMix;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a trial refuses, and how one ends that has made nothing or little. `TrialTest` of the module `local`
/// has whole ones.
class TrialCommandTest {
    private static final String PIPELINE =
            "{\"pipeline\":\"risk\",\"input\":{\"format\":\"json\",\"key\":\"TradeID\",\"version\":\"Version\"},"
                    + "\"rollup\":{\"levels\":[\"Hierarchy.RiskType\",\"Hierarchy.TradeDesk\",\"Hierarchy.Region\"],"
                    + "\"measures\":{\"value\":\"sum(Value) decimal(18,2)\",\"trades\":\"count()\"}}}";

    private static final Map<String, String> PROPERTIES =
            Map.of("aws.accessKeyId", "nobody", "aws.secretAccessKey", "secret", "aws.maxAttempts", "1");
    private static final String STACKS = "aws.endpointUrlCloudFormation";

    @TempDir
    private Path folder;

    private Cli cli;

    @BeforeAll
    static void know() {
        PROPERTIES.forEach(System::setProperty);
    }

    @AfterAll
    static void forget() {
        PROPERTIES.keySet().forEach(System::clearProperty);
    }

    @BeforeEach
    void write() {
        cli = Cli.in(folder);
        cli.write("risk.yaml", PIPELINE);
        cli.write("functions.zip", "");
    }

    private Result trial(String... more) {
        List<String> words = new ArrayList<>(
                List.of("aws", "trial", "risk.yaml", "--archive", "functions.zip", "--region", "eu-centrl-1"));
        words.addAll(List.of(more));
        return cli.run(words.toArray(String[]::new));
    }

    @Test
    void a_region_that_is_not_there_is_said_with_its_host_and_nothing_was_made() {
        System.setProperty(STACKS, "http://cloudformation.invalid");
        try {
            Result trial = trial("--yes");
            assertThat(trial.exitCode()).as(trial.err()).isEqualTo(3);
            assertThat(trial.out()).doesNotContain("Deleting", "deleted.", "kept");
            assertThat(trial.err())
                    .contains("The host cloudformation.invalid is not known. Check the region", "network")
                    .contains("Nothing was made.")
                    .doesNotContain("Not deleted", "UnknownHostException", "It costs");
            assertThat(trial("--yes", "--keep").out()).doesNotContain("is kept");
            Result clean = cli.run("aws", "clean", "risk-trial", "--yes", "--region", "eu-centrl-1");
            assertThat(clean.exitCode()).isEqualTo(3);
            assertThat(clean.err())
                    .contains("The host cloudformation.invalid is not known")
                    .doesNotContain("UnknownHostException");
        } finally {
            System.clearProperty(STACKS);
        }
    }

    @Test
    void a_second_trial_of_a_name_deletes_nothing_and_says_so() throws IOException {
        try (HttpAccount account = new HttpAccount(true, () -> {})) {
            Result result = trial("--yes", "--endpoint", account.endpoint().toString());
            assertThat(result.exitCode()).as(result.err()).isEqualTo(3);
            assertThat(result.out()).doesNotContain("Deleting", "All that was made is deleted.");
            assertThat(result.err())
                    .contains("There is a stack called risk-trial (made 2026-11-21T06:00:00Z")
                    .contains("Nothing was made.");
            assertThat(account.changes).isEmpty();
        }
    }

    @Test
    void without_a_terminal_nobody_is_asked() throws IOException {
        Result trial = cli.runWithInput("y\n", "aws", "trial", "risk.yaml", "--archive", "functions.zip");
        assertThat(trial.exitCode()).isEqualTo(2);
        assertThat(trial.out()).contains("All of it is deleted at the end", "'onefold aws clean risk-trial'");
        assertThat(trial.err())
                .contains("Nobody can be asked", "Nothing was made.", "--yes")
                .doesNotContain("[y/N]");
        try (HttpAccount account = new HttpAccount(true, () -> {})) {
            String[] words = {
                "aws",
                "clean",
                "risk-trial",
                "--region",
                "eu-central-1",
                "--endpoint",
                account.endpoint().toString()
            };
            Result clean = cli.runWithInput("y\n", words);
            assertThat(clean.exitCode()).as(clean.err()).isEqualTo(2);
            assertThat(clean.err()).contains("Nobody can be asked", "Nothing was deleted.", "--yes");
            assertThat(clean.out()).contains("Deletes the stack risk-trial (made 2026");
            assertThat(cli.onTerminal(100).runWithInput("n\n", words).exitCode())
                    .isEqualTo(1);
            assertThat(account.changes).isEmpty();
        }
    }

    @Test
    void a_trial_of_this_machine_promises_no_clean() {
        assertThat(trial("--local").out())
                .contains("All of it is deleted at the end, also after Ctrl-C.")
                .doesNotContain("aws clean");
        assertThat(trial("--local", "--keep").out())
                .contains("It is there until Ctrl-C, if the trial comes to its end.")
                .doesNotContain("aws clean");
        assertThat(trial("--keep").out()).contains("'onefold aws clean risk-trial' deletes it");
    }

    @Test
    void what_stands_on_this_machine_is_kept_only_if_the_trial_came_to_its_end() throws IOException {
        assertThat(interrupted(true))
                .contains("Stopped.", "Nothing is kept")
                .doesNotContain("What was made", "It is at");
        assertThat(interrupted(false)).contains("Stopped.", "What was made of the stack risk-trial is kept: ");
    }

    /// What a trial says that is to be kept and was stopped when it had made its bucket.
    private String interrupted(boolean isLocal) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Caller caller = cli.caller(InputStream.nullInputStream(), out, new ByteArrayOutputStream());
        Pipeline pipeline = ((Reading.Read) PipelineText.read(PIPELINE)).pipeline();
        TrialSettings.Amount size = new TrialSettings.Amount(100, Duration.ofMinutes(1), 100);
        TrialPipeline tried = TrialPipeline.of(caller, "risk.yaml", pipeline, "code");
        TrialSettings settings = new TrialSettings("risk-trial", tried, size, new TreeMap<>(), Map.of(), true, isLocal);
        StopRequest stop = new StopRequest();
        AwsCommand aws = AwsCommand.commandLine(caller).getCommand();
        TradeRiskLoad trades = new TradeRiskLoad(TradeRiskMix.BENCHMARK, 100, 42);
        try (HttpAccount account = new HttpAccount(false, () -> stop.make(ExitCode.INTERRUPTED));
                Services services = Services.at(aws, new Connection.Place("eu-central-1", null, account.endpoint()));
                TrialLoad load = new TrialLoad(Lines.of(trades), Oracle.of(trades))) {
            Trial trial = new Trial(caller, new Board(caller), services, settings, stop);
            Trial.Code code = new Trial.Code(folder.resolve("functions.zip"), "code");
            assertThat(trial.run(code, load)).isEqualTo(ExitCode.INTERRUPTED);
            assertThat(account.changes).hasSize(1);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    private void writeBatches(String input, String more) {
        cli.write("risk.yaml", """
                pipeline: orders
                input: %s
                batch: {size: 10, deliver: {http: "http://host/x"}, receiver: once%s}
                """.formatted(input, more));
    }

    @Test
    void batches_go_into_the_bucket_of_the_trial_and_nothing_is_for_the_receiver_in_the_file() {
        writeBatches("{format: json, id: id}", "");
        Result trial = trial("--records", "100000", "--poison", "1", "--fail-deliver", "5");
        assertThat(trial.exitCode()).as(trial.err()).isEqualTo(2);
        assertThat(trial.err()).contains("Nobody can be asked");
        assertThat(flat(trial.out()))
                .contains("an SQS queue with one for what is put aside, three tables")
                .contains("a bucket for their code, which gets the batches, too")
                .contains("messages of a burst, 5 % of them duplicates, 5 % late and 1 % poison.")
                .contains("Of 100 invocations fail on purpose: 0 of Collect and 5 of Deliver.")
                .contains("It costs about $");
        Pipeline pipeline = ((Reading.Read)
                        PipelineText.read(
                                "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\","
                                        + "\"id\":\"id\"},\"batch\":{\"size\":10,\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"once\"}}"))
                .pipeline();
        ByteArrayOutputStream nothing = new ByteArrayOutputStream();
        Caller caller = cli.caller(InputStream.nullInputStream(), nothing, nothing);
        Pipeline tried = TrialPipeline.of(caller, "risk.yaml", pipeline, "bucket-of-trial")
                .pipeline();
        assertThat(PipelineText.write(tried))
                .contains("s3://bucket-of-trial/batches/{number}.ndjson")
                .doesNotContain("host", "once");
    }

    @Test
    void batches_that_a_trial_cannot_compare_or_make_messages_for_are_refused_with_the_way_on() {
        writeBatches("{format: json, id: id}", ", forget: after-delivery");
        assertThat(trial("--yes").err()).contains("'forget: after-delivery'", "Leave 'forget' out for the trial.");
        writeBatches("{format: json, id: message}", "");
        assertThat(trial("--yes").err()).contains("have none of their own", "Give its input an 'id'.");
        writeBatches("{format: json, id: order}", "");
        assertThat(trial("--yes").err()).contains("messages for batches of JSON with the id 'id'", "--input FILE");
        writeBatches("{format: json, id: id}", "");
        assertThat(trial("--yes", "--rate", "100000").err()).contains("at most 10,000,000; not 30,000,000");
        assertThat(trial("--yes", "--fail-state", "5").err())
                .contains("has no function State: --fail-state is not for it.", "Collect and Deliver");
    }

    @Test
    void a_function_needs_records_of_its_own_and_one_in_another_language_is_refused_before_it_is_started() {
        cli.write("risk.yaml", """
                pipeline: runs
                input: {format: json, key: user, version: number}
                process:
                  command: [touch, started]
                  version: 1
                  order: latest
                  tables: {stats: [user]}
                """);
        Result trial = trial("--yes");
        assertThat(trial.exitCode()).as(trial.err()).isEqualTo(1);
        assertThat(trial.err()).contains("command");
        assertThat(folder.resolve("started")).doesNotExist();
    }

    private static String flat(String text) {
        return text.replaceAll("\\s+", " ");
    }

    @Test
    void a_parameter_that_the_template_does_not_have_is_refused_before_the_question() {
        Result unknown = trial("--yes", "--parameter", "EnhancedFanout=true");
        assertThat(unknown.exitCode()).isEqualTo(2);
        assertThat(unknown.out()).isEmpty();
        assertThat(unknown.err())
                .contains("The template has no parameter EnhancedFanout.", "Did you mean EnhancedFanOut?");
        assertThat(trial("--parameter", "EnhancedFanOut=true").err()).contains("Nobody can be asked");
        assertThat(trial("--yes", "--parameter", "X").err()).contains("Value for option '--parameter'");
    }

    @Test
    void shares_that_are_too_large_together_are_said_by_their_own_options() {
        Result result = trial("--yes", "--duplicates", "60", "--late", "60");
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains("--duplicates, --late and --poison are at most 80 % together", "not 120 %");
        assertThat(trial("--yes", "--late", "101").err()).contains("--late 101 is not a percentage");
    }

    @Test
    void input_that_is_no_file_or_has_no_record_is_refused() {
        Result none = trial("--yes", "--input", folder.toString());
        assertThat(none.exitCode()).isEqualTo(2);
        assertThat(none.err()).contains("is not a file that can be read again.").doesNotContain("--input -");
        cli.write("empty.ndjson", "\n");
        Result empty = trial("--yes", "--input", "empty.ndjson");
        assertThat(empty.exitCode()).as(empty.err()).isEqualTo(2);
        assertThat(empty.err()).contains("empty.ndjson has no record");
    }
}
