package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.onefold.aws.template.Template.Input;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StorageTest {
    private final ReadTemplate template = Pipelines.template(Input.NEW_STREAM);

    @Test
    void the_tables_have_these_keys_and_declare_no_other_attribute() {
        Map<String, List<String>> keys = new TreeMap<>();
        template.resources("AWS::DynamoDB::Table").forEach((name, table) -> {
            Map<String, String> types = new TreeMap<>();
            table.at("/Properties/AttributeDefinitions")
                    .forEach(attribute -> types.put(
                            attribute.get("AttributeName").asText(),
                            attribute.get("AttributeType").asText()));
            List<String> schema = new ArrayList<>();
            table.at("/Properties/KeySchema")
                    .forEach(key -> schema.add(key.get("KeyType").asText() + " "
                            + key.get("AttributeName").asText() + " "
                            + types.remove(key.get("AttributeName").asText())));
            assertThat(types).isEmpty();
            keys.put(name, schema);
        });
        assertThat(keys)
                .isEqualTo(Map.of(
                        "Rows", List.of("HASH k B"),
                        "Deltas", List.of("HASH l S", "RANGE i S"),
                        "Totals", List.of("HASH p S", "RANGE g B"),
                        "Letters", List.of("HASH p S", "RANGE i B")));
    }

    @Test
    void a_table_is_restorable_encrypted_and_protected_and_nothing_expires_from_it() {
        assertThat(template.resources("AWS::DynamoDB::Table").values())
                .hasSize(4)
                .allSatisfy(table -> {
                    JsonNode properties = table.get("Properties");
                    assertThat(properties
                                    .at("/PointInTimeRecoverySpecification/PointInTimeRecoveryEnabled")
                                    .asText())
                            .isEqualTo("true");
                    assertThat(properties.at("/SSESpecification/Fn::If").toString())
                            .isEqualTo("[\"HasKey\",{\"SSEEnabled\":\"true\",\"SSEType\":\"KMS\","
                                    + "\"KMSMasterKeyId\":{\"Ref\":\"KeyArn\"}},{\"SSEEnabled\":\"true\"}]");
                    assertThat(properties.at("/DeletionProtectionEnabled/Ref").asText())
                            .isEqualTo("DeletionProtection");
                    assertThat(properties.has("TimeToLiveSpecification")).isFalse();
                });
    }

    @Test
    void only_the_log_of_a_published_table_expires_from_its_totals() {
        ReadTemplate published =
                new ReadTemplate(Template.of(Pipelines.published(), Input.TABLE).yaml());
        assertThat(published
                        .properties("Totals")
                        .at("/TimeToLiveSpecification/AttributeName")
                        .asText())
                .isEqualTo("ttl");
        for (String table : List.of("Rows", "Deltas", "Letters", "Published")) {
            assertThat(published.properties(table).has("TimeToLiveSpecification"))
                    .isFalse();
        }
    }

    @Test
    void a_table_is_paid_by_request_or_provisioned_and_can_be_warmed_before_the_first_record() {
        assertThat(template.root().at("/Parameters/BillingMode/Default").asText())
                .isEqualTo("PAY_PER_REQUEST");
        assertThat(template.properties("Letters").get("BillingMode").asText()).isEqualTo("PAY_PER_REQUEST");
        for (String table : List.of("Rows", "Deltas", "Totals")) {
            JsonNode properties = template.properties(table);
            assertThat(properties.at("/BillingMode").toString())
                    .isEqualTo("{\"Fn::If\":[\"IsProvisioned\",\"PROVISIONED\",\"PAY_PER_REQUEST\"]}");
            JsonNode provisioned = properties.at("/ProvisionedThroughput/Fn::If");
            assertThat(provisioned.get(0).asText()).isEqualTo("IsProvisioned");
            assertThat(provisioned.get(1).at("/WriteCapacityUnits/Ref").asText())
                    .isEqualTo(table + "WriteUnits");
            JsonNode warm = properties.at("/WarmThroughput/Fn::If/2/Fn::If");
            assertThat(warm.get(0).asText()).isEqualTo("Has" + table + "Units");
            assertThat(warm.get(1).at("/ReadUnitsPerSecond/Ref").asText()).isEqualTo(table + "ReadUnits");
        }
    }

    @Test
    void only_deltas_have_a_stream_and_it_carries_keys_because_it_only_wakes() {
        Map<String, String> streams = new TreeMap<>();
        template.resources("AWS::DynamoDB::Table").forEach((name, table) -> {
            if (table.at("/Properties").has("StreamSpecification")) {
                streams.put(
                        name,
                        table.at("/Properties/StreamSpecification/StreamViewType")
                                .asText());
            }
        });
        assertThat(streams).isEqualTo(Map.of("Deltas", "KEYS_ONLY"));
    }

    @ParameterizedTest
    @EnumSource
    void of_a_trial_nothing_outlives_the_stack_and_no_table_is_protected(Input input) {
        String plain = Template.of(Pipelines.of(input), input).yaml();
        String deletable = Template.of(Pipelines.of(input), input).deletableYaml();
        assertThat(plain).contains("DeletionPolicy: RetainExceptOnCreate\n");
        assertThat(deletable.replaceAll("CustomResource\n *DeletionPolicy: Retain\n", ""))
                .as("a custom resource is a question, of which nothing is left")
                .doesNotContain("DeletionPolicy: Retain");
        assertThat(new ReadTemplate(deletable)
                        .root()
                        .at("/Parameters/DeletionProtection/Default")
                        .asText())
                .isEqualTo("false");
        assertThat(deletable.lines().count()).isEqualTo(plain.lines().count());
        String batches = BatchTemplate.of(Pipelines.batches(), BatchTemplate.Input.NEW_QUEUE)
                .deletableYaml();
        assertThat(batches).contains("DeletionPolicy: Delete").doesNotContain("Retain\n");
        assertThat(new ReadTemplate(batches)
                        .root()
                        .at("/Parameters/DeletionProtection/Default")
                        .asText())
                .isEqualTo("false");
    }

    @ParameterizedTest
    @EnumSource
    void a_share_of_each_shard_is_bought_only_where_enhanced_fan_out_is_asked_for(Input input) {
        ReadTemplate template = Pipelines.template(input);
        assertThat(template.resources("AWS::Kinesis::StreamConsumer")).hasSize(input == Input.TABLE ? 0 : 1);
        template.resources("AWS::Kinesis::StreamConsumer")
                .values()
                .forEach(consumer ->
                        assertThat(consumer.get("Condition").asText()).isEqualTo("HasFanOut"));
        assertThat(template.root().at("/Parameters").has("EnhancedFanOut")).isEqualTo(input != Input.TABLE);
    }

    @Test
    void what_holds_the_truth_outlives_the_stack() {
        List<String> retained = new ArrayList<>();
        template.root().path("Resources").properties().forEach(resource -> {
            if (resource.getValue().path("DeletionPolicy").asText().equals("RetainExceptOnCreate")) {
                assertThat(resource.getValue().path("UpdateReplacePolicy").asText())
                        .isEqualTo("Retain");
                retained.add(resource.getKey());
            }
        });
        assertThat(retained)
                .containsExactlyInAnyOrder(
                        "InputStream", "Rows", "Deltas", "Totals", "Letters", "LettersBucket", "RetriesAside");
    }

    @Test
    void the_bucket_of_dead_letters_is_private_encrypted_versioned_and_forgets_nothing() {
        JsonNode bucket = template.properties("LettersBucket");
        for (String block :
                List.of("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")) {
            assertThat(bucket.path("PublicAccessBlockConfiguration").path(block).asText())
                    .isEqualTo("true");
        }
        assertThat(bucket.path("BucketEncryption").toString()).contains("AES256");
        assertThat(bucket.at("/VersioningConfiguration/Status").asText()).isEqualTo("Enabled");
        assertThat(bucket.has("LifecycleConfiguration")).isFalse();
        assertThat(template.properties("LettersBucketPolicy").toString())
                .contains("\"Effect\":\"Deny\"", "\"aws:SecureTransport\":\"false\"")
                .doesNotContain("\"Effect\":\"Allow\"");
    }

    @Test
    void a_new_stream_takes_what_fits_into_an_invocation_encrypts_it_and_keeps_it_a_week_if_nobody_says_otherwise() {
        JsonNode stream = template.properties("InputStream");
        assertThat(stream.at("/StreamModeDetails/StreamMode").toString())
                .isEqualTo("{\"Fn::If\":[\"HasShards\",\"PROVISIONED\",\"ON_DEMAND\"]}");
        assertThat(stream.at("/ShardCount/Fn::If/1/Ref").asText()).isEqualTo("StreamShards");
        long bytes = stream.get("MaxRecordSizeInKiB").asLong() * 1024;
        assertThat((bytes + 2) / 3 * 4).isBetween(5_990_000L, 6_000_000L - 5_000);
        assertThat(stream.at("/StreamEncryption/EncryptionType").asText()).isEqualTo("KMS");
        assertThat(template.root()
                        .at("/Parameters/StreamRetentionHours/Default")
                        .asInt())
                .isEqualTo(7 * 24);
    }

    @ParameterizedTest
    @EnumSource
    void a_stream_is_made_only_where_one_is_asked_for(Input input) {
        assertThat(Pipelines.template(input).resources("AWS::Kinesis::Stream").keySet())
                .isEqualTo(input == Input.NEW_STREAM ? Set.of("InputStream") : Set.of());
    }

    @Test
    void a_message_of_the_retry_queue_is_put_aside_after_maxReceiveCount_and_kept_as_long_as_a_queue_can() {
        JsonNode retries = template.properties("Retries");
        assertThat(retries.at("/RedrivePolicy/deadLetterTargetArn/Fn::GetAtt").asText())
                .isEqualTo("RetriesAside.Arn");
        assertThat(retries.at("/RedrivePolicy/maxReceiveCount/Ref").asText()).isEqualTo("MaxReceiveCount");
        for (JsonNode queue : List.of(retries, template.properties("RetriesAside"))) {
            assertThat(queue.get("MessageRetentionPeriod").asInt()).isEqualTo(14 * 24 * 3_600);
            assertThat(queue.get("SqsManagedSseEnabled").toString())
                    .isEqualTo("{\"Fn::If\":[\"HasKey\",\"false\",\"true\"]}");
        }
    }

    @Test
    void a_message_stays_hidden_for_six_timeouts_of_the_function_that_has_it() {
        assertThat(template.properties("Retries").path("VisibilityTimeout").toString())
                .isEqualTo("{\"Fn::FindInMap\":[\"Visibility\",{\"Ref\":\"StateTimeout\"},\"Seconds\"]}");
        for (String timeout : ReadTemplate.texts(template.root().at("/Parameters/StateTimeout/AllowedValues"))) {
            assertThat(template.root()
                            .at("/Mappings/Visibility/" + timeout + "/Seconds")
                            .asInt())
                    .isEqualTo(6 * Integer.parseInt(timeout));
        }
    }
}
