package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.template.Template.Input;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Publishing;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RefusalsTest {
    private static PipelineBuilder pipeline() {
        return PipelineBuilder.named("p").rollup(rollup -> rollup.count("n"));
    }

    @ParameterizedTest
    @EnumSource
    void records_without_key_or_id_are_refused(Input input) {
        assertThatThrownBy(() -> Template.of(pipeline().build(), input))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("The pipeline 'p' cannot run on AWS: its records have neither key nor id.")
                .hasMessageContaining("'id'");
    }

    @ParameterizedTest
    @EnumSource
    void a_pipeline_whose_ids_are_forgotten_is_refused_because_here_none_is(Input input) {
        PipelineBuilder timed = pipeline().id("id").time("at").horizon(Duration.ofDays(7));
        assertThatThrownBy(() -> Template.of(timed.build(), input))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no id is forgotten there. Leave 'horizon' out");
        AwsEngine.requirePossible(
                timed.rollup("latest", rollup -> rollup.max("last", "v", 9, 0)).build());
    }

    @Test
    void a_function_that_is_a_command_is_refused_because_lambda_runs_java_alone() {
        String text = "{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"command\":"
                + "[\"python3\",\"runs.py\"],\"order\":\"every\",\"tables\":{\"t\":\"k\"}}}";
        Pipeline pipeline = ((Reading.Read) PipelineText.read(text)).pipeline();
        assertThatThrownBy(() -> AwsEngine.requirePossible(pipeline))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Pipeline p cannot be on AWS: its function is a command (python3 runs.py), and the Lambda"
                        + " functions run Java alone. Write the function in Java ('class' and 'jar'), or run the"
                        + " pipeline embedded.");
    }

    @Test
    void a_pipeline_that_reads_a_topic_of_kafka_is_refused_because_a_stream_brings_the_records() {
        String text =
                "{\"pipeline\":\"p\",\"input\":{\"from\":{\"kafka\":{\"topic\":\"t\",\"servers\":\"h:1\"}},\"key\":\"k\","
                        + "\"version\":\"v\"},\"rollup\":{\"levels\":[\"a\"],\"measures\":{\"n\":\"count()\"}}}";
        Pipeline pipeline = ((Reading.Read) PipelineText.read(text)).pipeline();
        assertThatThrownBy(() -> AwsEngine.requirePossible(pipeline))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Pipeline p cannot be on AWS: it reads a topic of Kafka by itself. Leave 'from' out, or"
                        + " use 'onefold run'.");
    }

    @ParameterizedTest
    @EnumSource
    void a_pipeline_whose_groups_end_is_refused_because_here_they_would_end_by_the_clock(Input input) {
        Pipeline kept = PipelineBuilder.named("p")
                .id("id")
                .time("at")
                .rollup(rollup -> rollup.levels("bucket(at, 1d)")
                        .keep(Duration.ofDays(90))
                        .count("n"))
                .build();
        assertThatThrownBy(() -> Template.of(kept, input))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("DynamoDB removes an item by the clock", "Leave 'keep' out");
    }

    @ParameterizedTest
    @EnumSource
    void batches_have_a_template_of_their_own(Input input) {
        assertThatThrownBy(() -> Template.of(Pipelines.batches(), input))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Pipeline orders makes batches")
                .hasMessageContaining("Use 'onefold aws template'.");
        assertThatThrownBy(() -> AwsEngine.requirePossible(Pipelines.batches()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Pipeline orders makes batches");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"file\":\"x-{number}.ndjson\"}|a function has no folder that stays",
                "{\"command\":[\"load\"]},\"receiver\":\"once\"|a function has no commands of yours",
                "{\"s3\":\"s3://bucket/x-{number}.ndjson\",\"endpoint\":\"https://minio\"}|a store that is not AWS",
                "{\"s3\":\"s3://bucket/x-{number}.zst\"}|the functions have no Zstandard",
                "{\"s3\":\"s3://bucket/*/x-{number}.ndjson\"}|its role could not name the objects s3://bucket/*/x-",
                "{\"s3\":\"s3://Bucket_1/x-{number}.ndjson\"}|its role could not name the objects s3://Bucket_1/x-",
                "{\"lambda\":\"load orders\"},\"receiver\":\"once\"|load orders is no name and no ARN of a Lambda function",
                "{\"lambda\":\"load\",\"timeout\":\"14m\"},\"receiver\":\"once\"|one delivery may take 14 minutes",
                "{\"sftp\":\"sftp://me@host/x-{number}.ndjson\"}|neither a private key of yours nor known hosts",
                "{\"http\":\"http://host/x\",\"timeout\":\"14m\"},\"receiver\":\"once\"|one delivery may take 14 minutes and Lambda",
                "{\"class\":\"my.Loader\"},\"receiver\":\"once\"|one delivery may take 60 minutes, which is the default, and Lambda",
                "{\"http\":\"http://host/x\"},\"receiver\":\"once\",\"forget\":\"14d\"|Write 'forget: 15d' or longer"
            })
    void a_receiver_that_a_function_cannot_have_is_refused_with_the_reason(String deliver, String reason) {
        assertThatThrownBy(() -> BatchTemplate.of(Pipelines.batches(deliver), BatchTemplate.Input.QUEUE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Pipeline orders cannot be on AWS: ")
                .hasMessageContaining(reason);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"http\":\"http://host/x\",\"timeout\":\"13m\"},\"receiver\":\"once\"",
                "{\"s3\":\"s3://bucket/a/x-{number}.ndjson.gz\",\"manifest\":true,\"region\":\"eu-west-1\"}",
                "{\"class\":\"my.Loader\",\"jar\":\"my.jar\",\"timeout\":\"30s\"},\"receiver\":\"once\"",
                "{\"jdbc\":\"jdbc:postgresql://host/x\",\"password\":\"SECRET\",\"insert\":\"insert into x (a) values (:a)\"}"
            })
    void a_receiver_that_a_function_can_have_is_not_refused(String deliver) {
        for (BatchTemplate.Input input : BatchTemplate.Input.values()) {
            assertThat(BatchTemplate.of(Pipelines.batches(deliver), input).yaml())
                    .isNotEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "AWS_REGION",
                "LAMBDA_TASK_ROOT",
                "ONEFOLD_ROWS",
                "JAVA_TOOL_OPTIONS",
                "_JAVA_OPTIONS",
                "JDK_JAVA_OPTIONS",
                "JAVA_HOME",
                "PATH",
                "CLASSPATH",
                "LD_LIBRARY_PATH",
                "LD_PRELOAD",
                "HOME",
                "TZ",
                "LANG",
                "LC_ALL",
                "BASH_ENV",
                "HTTPS_PROXY",
                "http_proxy",
                "NO_PROXY",
                "ALL_PROXY",
                "GLIBC_TUNABLES"
            })
    void a_secret_in_a_variable_that_something_else_obeys_is_refused(String variable) {
        assertThatThrownBy(() -> BatchTemplate.of(
                        Pipelines.batches("{\"http\":\"http://host/x\",\"authorization\":\"" + variable
                                + "\"},\"receiver\":\"once\""),
                        BatchTemplate.Input.QUEUE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot have the environment variable " + variable)
                .hasMessageContaining("such as RECEIVER_SECRET");
    }

    @ParameterizedTest
    @ValueSource(strings = {"TOKEN", "receiver_token", "JAVA_SERVICE_TOKEN", "PATH_TOKEN", "PROXY_TOKEN", "PGPASSWORD"})
    void a_secret_in_a_variable_of_its_own_is_not_refused(String variable) {
        String yaml = BatchTemplate.of(
                        Pipelines.batches("{\"http\":\"http://host/x\",\"authorization\":\"" + variable
                                + "\"},\"receiver\":\"once\""),
                        BatchTemplate.Input.QUEUE)
                .yaml();
        assertThat(yaml).contains(" " + variable + ": !If [HasSecretArn, !Ref AWS::NoValue, !Ref ReceiverSecret]");
    }

    @Test
    void csv_whose_first_line_names_the_columns_is_refused_and_with_listed_columns_it_is_not() {
        assertThatThrownBy(() -> Template.of(pipeline().csv().id("id").build(), Input.STREAM))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no listed columns")
                .hasMessageContaining("'columns'");
        assertThat(Template.of(pipeline().csv("id", "value").id("id").build(), Input.STREAM)
                        .yaml())
                .isNotEmpty();
    }

    @Test
    void a_pipeline_that_does_not_read_changes_is_refused_for_a_table() {
        for (PipelineBuilder builder : new PipelineBuilder[] {
            pipeline().key("id").version("SequenceNumber").delete("eventName = \"REMOVE\""),
            pipeline().key("Keys.id", "NewImage.x").version("SequenceNumber").delete("eventName = \"REMOVE\""),
            pipeline().key("Keys.id").version("NewImage.version").delete("eventName = \"REMOVE\""),
            pipeline().key("Keys.id").version("SequenceNumber"),
            pipeline().id("Keys.id")
        }) {
            assertThatThrownBy(() -> Template.of(builder.build(), Input.TABLE))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("it does not read the changes of a table")
                    .hasMessageContaining("'version: SequenceNumber'");
        }
    }

    @Test
    void a_pipeline_whose_text_leaves_no_room_for_names_is_refused() {
        PipelineBuilder builder = PipelineBuilder.named("p").id("id");
        Random random = new Random(1);
        for (int i = 0; i < 16; i++) {
            builder.rollup("r" + i, rollup -> {
                for (int j = 0; j < 32; j++) {
                    rollup.sum("m" + j, "f" + Long.toString(random.nextLong(Long.MAX_VALUE), 36), 18, 2);
                }
            });
        }
        Pipeline large = builder.build();
        assertThatThrownBy(() -> Template.of(large, Input.STREAM))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most 2580");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rows", "deltas", "totals", "letters", "table-orders"})
    void totals_are_not_published_into_a_table_that_the_stack_makes_for_itself(String own) {
        Pipeline favourites = Pipelines.favourites();
        assertThatThrownBy(() -> Template.of(published(favourites, favourites.name() + "-" + own), Input.STREAM))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("it publishes into the table favourites-" + own)
                .hasMessageContaining("another 'table'");
        assertThat(Template.of(published(favourites, "other-" + own), Input.STREAM)
                        .yaml())
                .contains("TableName: 'other-" + own + "'");
    }

    private static Pipeline published(Pipeline pipeline, String table) {
        return new Pipeline(
                pipeline.name(), pipeline.input(), pipeline.fold(), new Publishing.Items(table, Optional.empty()));
    }
}
