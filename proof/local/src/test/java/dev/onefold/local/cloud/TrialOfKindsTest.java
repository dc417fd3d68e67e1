package dev.onefold.local.cloud;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Opcode;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `onefold aws trial` of a function and of batches, each in a process of its own, on an account of this
/// machine.
@Tag("campaign")
class TrialOfKindsTest {
    private static final String PURSES = """
            pipeline: purses
            input: {format: json, key: account, version: number}
            process:
              class: dev.onefold.local.cloud.Purses
              version: 1
              order: in-order
              keep: 1000
              tables: {purses: [account], payments: [account, number]}
            rollups:
              by-account:
                of: purses
                levels: [account]
                measures: {held: 'sum(held) decimal(18,0)'}
            """;

    private static final String BURST = """
            pipeline: burst
            input: {format: json, id: id}
            batch:
              size: 150
              wait: 5m
              compare: [type, source, customer, amount, items]
              deliver: {http: "http://localhost:1/nobody"}
              receiver: once
            """;

    private static final String MESSAGE = "dev.onefold.aws.batch.Message$Good";

    @TempDir
    private static Path folder;

    private static LocalAccount account;
    private static Commands commands;

    @BeforeAll
    static void open() throws IOException {
        account = LocalAccount.open();
        commands = new Commands(account, folder);
        Files.writeString(folder.resolve("purses.yaml"), PURSES);
        Files.writeString(folder.resolve("burst.yaml"), BURST);
        Files.writeString(
                folder.resolve("payments.ndjson"),
                IntStream.range(0, 600)
                        .mapToObj(i -> "{\"account\": \"a%d\", \"number\": %d, \"amount\": %d}%n"
                                .formatted(i % 11, i, i * 7 % 100))
                        .collect(Collectors.joining()));
        ClassFiles right = new ClassFiles().with(Purses.class);
        Files.write(folder.resolve("functions.zip"), WholeStackTest.archive(right.files()));
        ClassFiles faulty = new ClassFiles()
                .with(Purses.class)
                .with(Purses.class.getName(), "start", TrialOfKindsTest::startOtherwise)
                .with("dev.onefold.aws.state.FeedDeltas", "signed", TrialOfKindsTest::retractNothing)
                .with(MESSAGE, "isMember", TrialOfKindsTest::leaveSomeOut);
        Files.write(folder.resolve("faulty.zip"), WholeStackTest.archive(faulty.files()));
    }

    @AfterAll
    static void close() {
        account.close();
    }

    /// The context of a key that no event has come of.
    private static void startOtherwise(CodeBuilder code) {
        ClassDesc purse = ClassDesc.of(Purses.Purse.class.getName());
        code.new_(purse)
                .dup()
                .loadConstant(3L)
                .loadConstant(0)
                .invokespecial(
                        purse,
                        ConstantDescs.INIT_NAME,
                        MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_long, ConstantDescs.CD_int))
                .areturn();
    }

    /// Of a row that is replaced, the former content stays in the totals.
    private static void retractNothing(CodeBuilder code) {
        ClassDesc delta = ClassDesc.of("dev.onefold.core.map.Delta");
        code.iload(code.parameterSlot(3))
                .ifThen(leaves -> leaves.getstatic(delta, "NOTHING", delta).areturn());
    }

    /// An eighth of the records is taken for records that the filter leaves out.
    private static void leaveSomeOut(CodeBuilder code) {
        code.aload(code.receiverSlot())
                .getfield(ClassDesc.of(MESSAGE), "idHash", ConstantDescs.CD_byte.arrayType())
                .loadConstant(0)
                .baload()
                .loadConstant(-96)
                .ifThen(Opcode.IF_ICMPLT, left -> left.loadConstant(0).ireturn());
    }

    private static Process trial(String archive, String pipeline, String... more) throws IOException {
        List<String> words = new ArrayList<>(List.of("trial", pipeline, "--archive", archive, "--minutes", "1"));
        words.addAll(List.of(more));
        return commands.start(words.toArray(String[]::new));
    }

    @Test
    void the_rows_of_a_function_are_those_of_a_loop_though_records_and_invocations_fail() throws Exception {
        Commands.Ended ended = commands.ended(trial(
                "functions.zip",
                "purses.yaml",
                "--input=payments.ndjson",
                "--rate=300",
                "--duplicates=5",
                "--late=10",
                "--poison=2",
                "--fail-state=10",
                "--fail-reduce=10",
                "--parameter=Gates=64"));
        assertThat(ended.exitCode()).as(ended.out()).isZero();
        assertThat(ended.out())
                .contains("equal: all 611 rows of 2 tables, and all 12 groups after 6")
                .contains("rows of payments", "rejected records", "Delay until visible: mean ")
                .contains("All that was made is deleted.")
                .doesNotContain("DIFFERENT");
        assertThat(account.stored()).isEmpty();
    }

    @Test
    void each_different_record_is_in_one_batch_of_the_trial_though_deliveries_fail() throws Exception {
        Commands.Ended ended = commands.ended(trial(
                "functions.zip", "burst.yaml", "--rate=500", "--records=1000", "--poison=2", "--fail-deliver=30"));
        assertThat(ended.exitCode()).as(ended.out()).isZero();
        assertThat(ended.out())
                .contains("equal: each different record is in exactly one batch", "objects, at most")
                .contains("until its batch was there: mean ", "All that was made is deleted.")
                .doesNotContain("DIFFERENT");
        assertThat(account.stored()).isEmpty();
    }

    @Test
    void faults_of_what_is_deployed_are_found_in_rows_totals_and_batches() throws Exception {
        Commands.Ended function = commands.ended(
                trial("faulty.zip", "purses.yaml", "--input=payments.ndjson", "--rate=600", "--parameter=Gates=64"));
        assertThat(function.exitCode()).as(function.out()).isEqualTo(1);
        assertThat(function.out())
                .contains("Table purses has a row that is not right: ", "Table purses lacks the row ")
                .doesNotContain("Table payments", "equal: ")
                .containsPattern("(?m)^total .*DIFFERENT$")
                .contains("All that was made is deleted.");
        Commands.Ended batches = commands.ended(trial("faulty.zip", "burst.yaml", "--rate=500", "--records=500"));
        assertThat(batches.exitCode()).as(batches.out()).isEqualTo(1);
        assertThat(batches.out())
                .containsPattern("DIFFERENT: [0-9]+ records are in no batch[.]")
                .doesNotContain("equal: ", "more than once", "was not put")
                .contains("All that was made is deleted.");
        assertThat(account.stored()).isEmpty();
    }
}
