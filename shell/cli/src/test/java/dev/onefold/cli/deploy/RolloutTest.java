package dev.onefold.cli.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.cli.Cli;
import dev.onefold.cli.aws.TemplateOptions;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A deployment beside somebody else who works on the same stack.
@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RolloutTest {
    private static final String OURS = "Onefold: totals of pipeline orders, version 1";

    @TempDir
    private Path folder;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    private Rollout rollout(FakeAccount account) throws IOException {
        Path archive = Files.writeString(folder.resolve("functions.zip"), "code");
        String text = "{\"pipeline\":\"orders\",\"input\":{\"key\":\"k\",\"version\":\"v\"},"
                + "\"rollup\":{\"levels\":[\"city\"],\"measures\":{\"n\":\"count()\"}}}";
        Pipeline pipeline = ((Reading.Read) PipelineText.read(text)).pipeline();
        Rollout.Plan plan = new Rollout.Plan(
                FakeAccount.NAME,
                new TemplateOptions.Written(pipeline, "Resources:\n", List.of("CodeBucket", "CodeKey")),
                archive,
                Map.of(),
                Optional.empty());
        Board board = new Board(Cli.in(folder).caller(InputStream.nullInputStream(), out, new ByteArrayOutputStream()));
        return new Rollout(plan, account.services(), board, new StopRequest(), Duration.ofMillis(1));
    }

    private String said() {
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void an_update_that_comes_while_somebody_else_changes_the_stack_is_not_called_deployed() throws IOException {
        FakeAccount account = new FakeAccount("UPDATE_COMPLETE", OURS);
        account.beforeUpdate = () -> {
            account.become("UPDATE_IN_PROGRESS", "theirs");
            account.next.add(() -> account.become("UPDATE_COMPLETE", "theirs"));
        };
        Rollout rollout = rollout(account);
        rollout.look();
        assertThatThrownBy(rollout::run)
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("Somebody else changes the stack orders")
                .hasMessageContaining("The same command waits for it.");
        assertThat(said()).doesNotContain("is deployed");
    }

    @Test
    void an_update_that_was_rolled_back_is_not_called_deployed_because_that_of_somebody_else_behind_it_was_done()
            throws IOException {
        FakeAccount account = new FakeAccount("UPDATE_COMPLETE", OURS);
        Rollout rollout = rollout(account);
        rollout.look();
        account.next.add(() -> {
            account.event("AWS::DynamoDB::Table", "Rows", "UPDATE_FAILED", account.token);
            account.become("UPDATE_ROLLBACK_COMPLETE", account.token);
            account.become("UPDATE_IN_PROGRESS", "theirs");
        });
        account.next.add(() -> account.become("UPDATE_COMPLETE", "theirs"));
        assertThatThrownBy(rollout::run)
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("The stack orders cannot be updated. AWS::DynamoDB::Table Rows: Table of "
                        + account.token + " is too wide")
                .hasMessageContaining("All of it is as it was before");
        assertThat(said()).doesNotContain("is deployed");
    }

    @Test
    void an_update_is_reported_with_its_own_changes_alone() throws IOException {
        FakeAccount account = new FakeAccount("UPDATE_COMPLETE", OURS);
        Rollout rollout = rollout(account);
        rollout.look();
        account.next.add(() -> {
            account.event("AWS::Lambda::Function", "State", "UPDATE_COMPLETE", account.token);
            account.become("UPDATE_COMPLETE", account.token);
            account.become("UPDATE_IN_PROGRESS", "theirs");
            account.event("AWS::Lambda::Function", "Reduce", "UPDATE_COMPLETE", "theirs");
        });
        assertThat(rollout.run()).isEqualTo(ExitCode.DONE);
        assertThat(said()).contains("is deployed.", "1 resource changed: State.");
    }

    @Test
    void what_is_left_of_a_stack_that_was_never_made_and_cannot_be_deleted_is_reported_and_not_waited_for()
            throws IOException {
        FakeAccount account = new FakeAccount("ROLLBACK_COMPLETE", OURS);
        Rollout rollout = rollout(account);
        rollout.look();
        account.next.add(() -> account.become("DELETE_FAILED", ""));
        assertThatThrownBy(rollout::run)
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("DELETE_FAILED) cannot be updated")
                .hasMessageContaining("aws cloudformation delete-stack --stack-name orders");
    }

    @Test
    void a_stack_of_which_there_is_only_a_change_set_is_refused_and_not_waited_for() throws IOException {
        Rollout rollout = rollout(new FakeAccount("REVIEW_IN_PROGRESS", OURS));
        assertThatThrownBy(rollout::look)
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("REVIEW_IN_PROGRESS) cannot be updated");
    }

    @Test
    void the_bucket_of_a_deployment_of_the_same_name_in_another_region_is_not_taken() throws IOException {
        FakeAccount account = new FakeAccount("DELETE_COMPLETE", OURS);
        account.bucket("onefold-code-orders-0123456789ab", "us-east-1");
        Rollout elsewhere = rollout(account);
        elsewhere.look();
        assertThat(elsewhere.announcement()).contains("in a new bucket, onefold-code-orders-");
        account.bucket("onefold-code-orders-ba9876543210", "eu-central-1");
        Rollout here = rollout(account);
        here.look();
        assertThat(here.announcement()).contains("in the bucket onefold-code-orders-ba9876543210.");
    }
}
