package dev.onefold.local.cloud;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.cloudformation.model.Stack;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.s3.model.Bucket;
import software.amazon.awssdk.services.s3.model.S3Object;

/// `onefold aws deploy` in processes of its own, on an account of this machine that is empty at first.
@Tag("campaign")
class DeployTest {
    private static final String PIPELINE = """
            pipeline: trade-risk
            input: {format: json, key: TradeID, version: Version, time: Timestamp, delete: Deleted = true}
            rollup:
              levels: [Hierarchy.RiskType, Hierarchy.TradeDesk, Hierarchy.Region]
              measures: {value: 'sum(Value) decimal(18,2)', trades: count()}
            """;

    private static final int INTERRUPTIONS = Integer.getInteger("interruptions", 4);

    @TempDir
    private Path folder;

    private LocalAccount account;
    private Commands commands;

    @BeforeEach
    void open() throws IOException {
        account = LocalAccount.open();
        commands = new Commands(account, folder);
        Files.writeString(folder.resolve("trade-risk.yaml"), PIPELINE);
        Files.write(folder.resolve("functions.zip"), WholeStackTest.archive());
    }

    @AfterEach
    void close() {
        account.close();
    }

    private Process deploy(String... more) throws IOException {
        List<String> words = new ArrayList<>(List.of("deploy", "trade-risk.yaml", "--archive", "functions.zip"));
        words.addAll(List.of(more));
        return commands.start(words.toArray(String[]::new));
    }

    private List<String> buckets() {
        return account.objects.listBuckets().join().buckets().stream()
                .map(Bucket::name)
                .filter(name -> name.startsWith("onefold-code-"))
                .toList();
    }

    private List<String> objects() {
        String bucket = buckets().getFirst();
        return account.objects.listObjectsV2(request -> request.bucket(bucket)).join().contents().stream()
                .map(S3Object::key)
                .toList();
    }

    @Test
    void one_command_deploys_a_pipeline_and_again_changes_nothing_and_with_a_parameter_what_it_concerns()
            throws Exception {
        Commands.Ended first = commands.ended(deploy("--parameter", "Gates=64"));
        assertThat(first.exitCode()).as(first.out()).isZero();
        assertThat(first.out())
                .contains(
                        "Makes the stack trade-risk in eu-central-1 for pipeline trade-risk.", "Parameters: Gates=64.")
                .contains("in a new bucket, onefold-code-trade-risk-")
                .contains("Quotas of Lambda were not checked: ", "DynamoDB: ")
                .contains("is deployed.", " resources made.", "InputStreamName  trade-risk-input");
        assertThat(buckets()).hasSize(1);
        assertThat(objects()).singleElement().asString().matches("functions-[0-9a-f]{16}[.]zip");
        Commands.Ended same = commands.ended(deploy());
        assertThat(same.exitCode()).as(same.out()).isZero();
        assertThat(same.out())
                .contains("Updates the stack trade-risk (made 20", "Nothing has changed: ")
                .contains("in the bucket " + buckets().getFirst());
        Commands.Ended changed = commands.ended(deploy("--parameter", "StateMemory=2048"));
        assertThat(changed.exitCode()).as(changed.out()).isZero();
        assertThat(changed.out()).contains("is deployed.").containsPattern("changed: [^.]*State\\b");
        Stack stack = account.describe("trade-risk");
        assertThat(stack.parameters())
                .anyMatch(each -> each.parameterKey().equals("Gates")
                        && each.parameterValue().equals("64"))
                .anyMatch(each -> each.parameterKey().equals("StateMemory")
                        && each.parameterValue().equals("2048"));
        assertThat(objects()).hasSize(1);
    }

    @Test
    void killed_at_any_moment_it_goes_on_when_it_is_run_again() throws Exception {
        Random random = new Random(42);
        int killed = 0;
        for (int i = 1; i <= INTERRUPTIONS; i++) {
            Process process = deploy("--parameter", "Gates=64", "--parameter", "StateMemory=" + (1_768 + i));
            if (!process.waitFor(1_500 + random.nextInt(6_000), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly().waitFor();
                killed++;
            }
        }
        assertThat(killed).isPositive();
        Commands.Ended ended = commands.ended(deploy("--parameter", "Gates=64", "--parameter", "StateMemory=4000"));
        assertThat(ended.exitCode()).as(ended.out()).isZero();
        assertThat(buckets())
                .as("each attempt finds the bucket of those before")
                .hasSize(1);
        assertThat(account.describe("trade-risk").stackStatusAsString()).isIn("CREATE_COMPLETE", "UPDATE_COMPLETE");
        Commands.Ended again = commands.ended(deploy());
        assertThat(again.out()).contains("Nothing has changed");
    }

    @Test
    void a_first_deployment_that_fails_says_why_and_the_next_one_deletes_what_is_left_of_it() throws Exception {
        account.tables
                .createTable(request -> request.tableName("trade-risk-rows")
                        .attributeDefinitions(AttributeDefinition.builder()
                                .attributeName("k")
                                .attributeType(ScalarAttributeType.S)
                                .build())
                        .keySchema(KeySchemaElement.builder()
                                .attributeName("k")
                                .keyType(KeyType.HASH)
                                .build())
                        .billingMode(BillingMode.PAY_PER_REQUEST))
                .join();
        Commands.Ended failed = commands.ended(deploy());
        assertThat(failed.exitCode()).as(failed.out()).isEqualTo(1);
        assertThat(failed.out())
                .contains("The stack trade-risk cannot be made. AWS::DynamoDB::Table Rows: ")
                .contains("it deletes the empty");
        account.tables
                .deleteTable(request -> request.tableName("trade-risk-rows"))
                .join();
        Commands.Ended ended = commands.ended(deploy("--parameter", "Gates=64"));
        assertThat(ended.exitCode()).as(ended.out()).isZero();
        assertThat(ended.out()).contains("Makes the stack trade-risk", "is deployed.");
    }

    @Test
    void a_stack_of_something_else_is_left_alone_and_a_long_template_goes_by_the_bucket() throws Exception {
        Files.writeString(folder.resolve("favourites.yaml"), """
                pipeline: favourites
                input: {format: dynamodb-stream, key: [user]}
                rollup: {levels: [city], measures: {favourites: count()}}
                publish: {table: counts}
                """);
        Commands.Ended longer = commands.ended(
                commands.start(
                        "deploy",
                        "favourites.yaml",
                        "--archive",
                        "functions.zip",
                        "--input",
                        "table",
                        "--serve",
                        "read",
                        "--parameter",
                        "InputStreamArn=arn:aws:dynamodb:eu-central-1:000000000000:table/Favourites/stream/2026-11-21T00:00:00"));
        assertThat(longer.exitCode()).as(longer.out()).isEqualTo(3);
        assertThat(longer.out()).as("the stand-in has read it").contains("AWS::Lambda::Url");
        assertThat(objects()).hasSize(2).anyMatch(key -> key.matches("template-[0-9a-f]{16}[.]yaml"));
        String other = "Description: 'of somebody'\nResources:\n  Queue:\n    Type: AWS::SQS::Queue\n";
        account.settled(account.create("trade-risk", other));
        Commands.Ended refused = commands.ended(deploy());
        assertThat(refused.exitCode()).as(refused.out()).isEqualTo(1);
        assertThat(refused.out()).contains("that is not of pipeline trade-risk (of somebody)", "--deployment");
    }
}
