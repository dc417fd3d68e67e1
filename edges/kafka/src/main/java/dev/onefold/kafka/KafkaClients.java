package dev.onefold.kafka;

import dev.onefold.core.pipeline.Origin;
import dev.onefold.core.pipeline.Origin.Encoding;
import dev.onefold.kafka.format.Decoding;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/// Clients of a pipeline's topic. Positions are the engine's alone, so the client neither moves nor keeps any;
/// records of transactions that are not committed are never read. What is written is written in transactions.
/// Immutable.
public final class KafkaClients {
    /// What an exactly counted topic needs. A file of properties may not say otherwise.
    private static final Map<String, String> FIXED = Map.of(
            ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed",
            ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none",
            ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false",
            ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false",
            ProducerConfig.ACKS_CONFIG, "all",
            ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
    private static final Set<String> OWN =
            Set.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, ProducerConfig.TRANSACTIONAL_ID_CONFIG);
    private static final int BLOCK_MS_MAX = 30_000;
    /// An engine takes a checkpoint while its transaction is open.
    private static final int TRANSACTION_MS_MAX = 300_000;

    // Few, so that records are folded while they are in the young part of the heap: each that survives a collection
    // is copied, and costs more than the questions to the cluster that fewer polls would save.
    private static final int POLL_RECORDS = 4_000;
    private static final int PARTITION_FETCH_BYTES = 1 << 20;
    private static final long FETCH_BYTES_MAX = 2L << 20;
    private static final int HEAP_PART = 16;
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{([A-Za-z_][A-Za-z0-9_]*)}");

    private static final String OF_REGISTRY = "schema.registry.";
    private static final String USER = OF_REGISTRY + "basic.auth.user.info";
    private static final String TOKEN = OF_REGISTRY + "bearer.auth.token";

    private final Map<String, Object> properties = new HashMap<>();
    private final Optional<Encoding> encoding;
    private final Optional<String> authorization; // At the registry.
    private final Path folder;
    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final Supplier<Admin> admins;

    /// @param folder of the pipeline file, in which the file of properties is
    /// @param environment gives the value of a variable, or null
    /// @throws IllegalArgumentException if the properties cannot be read, or are not possible
    public KafkaClients(Origin.Kafka topic, Path folder, UnaryOperator<@Nullable String> environment) {
        this(topic.servers(), topic.properties(), topic.encoding(), folder, environment);
    }

    /// @param servers hosts and ports, separated by commas
    /// @param file of properties, relative to the folder
    /// @param encoding of the records that are read; empty if they are text
    KafkaClients(
            String servers,
            Optional<String> file,
            Optional<Encoding> encoding,
            Path folder,
            UnaryOperator<@Nullable String> environment) {
        long bytes = Math.min(FETCH_BYTES_MAX, Runtime.getRuntime().maxMemory() / HEAP_PART);
        properties.put(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, (int) bytes);
        properties.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, (int) Math.min(PARTITION_FETCH_BYTES, bytes));
        properties.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, POLL_RECORDS);
        file.ifPresent(name -> read(folder.resolve(name), environment));
        properties.putAll(FIXED);
        properties.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
        this.encoding = encoding;
        authorization = authorization();
        this.folder = folder;
        consumers = () -> new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        admins = () -> Admin.create(of(AdminClientConfig.configNames()));
    }

    /// Clients of records that are text, which are made elsewhere.
    ///
    /// @param group under which tools see the lag
    KafkaClients(String group, Supplier<Consumer<byte[], byte[]>> consumers, Supplier<Admin> admins) {
        properties.put(ConsumerConfig.GROUP_ID_CONFIG, group);
        encoding = Optional.empty();
        authorization = Optional.empty();
        folder = Path.of("");
        this.consumers = consumers;
        this.admins = admins;
    }

    /// The value of the header by which the registry of schemas knows its caller. The client of Kafka never sees it.
    private Optional<String> authorization() {
        Object user = properties.remove(USER);
        Object given = properties.remove(TOKEN);
        String token = given == null ? "" : given.toString().strip();
        properties.keySet().stream()
                .filter(name -> name.startsWith(OF_REGISTRY))
                .findFirst()
                .ifPresent(name -> {
                    throw new IllegalArgumentException("Property " + name + " is not known. For the registry write "
                            + USER + " (NAME:PASSWORD) or " + TOKEN + ".");
                });
        if (!token.matches("[!-~]*")) { // The client of HTTP would name it in its message.
            throw new IllegalArgumentException("Property " + TOKEN + " is not the token of a header");
        }
        return !token.isEmpty()
                ? Optional.of("Bearer " + token)
                : Optional.ofNullable(user)
                        .map(name -> "Basic "
                                + Base64.getEncoder()
                                        .encodeToString(name.toString().getBytes(StandardCharsets.UTF_8)));
    }

    /// Decodes records; empty if they are text.
    ///
    /// @param data the data directory, which keeps copies of schemas
    /// @param isCopying whether it adds copies
    /// @throws IllegalArgumentException if a file for it cannot be used
    Optional<Decoding> decoding(Path data, boolean isCopying) {
        return encoding.map(how -> new Decoding(how, folder, data.resolve("schemas"), isCopying, authorization));
    }

    private void read(Path file, UnaryOperator<@Nullable String> environment) {
        Properties read = new Properties();
        try (Reader text = Files.newBufferedReader(file)) {
            read.load(text);
        } catch (IOException | IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "The file of properties " + file + " cannot be read: " + e.getMessage(), e);
        }
        new TreeMap<>(read).forEach((key, value) -> {
            String name = key.toString();
            String fixed = FIXED.get(name);
            if (fixed != null && !fixed.equals(value) || OWN.contains(name) || name.endsWith("serializer")) {
                throw new IllegalArgumentException("Property " + name + " in " + file + " is not possible: "
                        + (fixed == null ? "Onefold says it itself" : "exact totals need " + fixed)
                        + ". Leave it out.");
            }
            properties.put(name, resolved(name, value.toString(), file, environment));
        });
    }

    private static String resolved(String name, String value, Path file, UnaryOperator<@Nullable String> environment) {
        Matcher matcher = VARIABLE.matcher(value);
        StringBuilder text = new StringBuilder();
        while (matcher.find()) {
            String variable = environment.apply(matcher.group(1));
            if (variable == null) {
                throw new IllegalArgumentException("Property " + name + " in " + file + " names the variable "
                        + matcher.group(1) + ", which is not set");
            }
            matcher.appendReplacement(text, Matcher.quoteReplacement(variable));
        }
        return matcher.appendTail(text).toString();
    }

    /// The group under which tools see the lag; `null` if the properties name none.
    @Nullable
    String group() {
        return (String) properties.get(ConsumerConfig.GROUP_ID_CONFIG);
    }

    /// @throws IllegalArgumentException if a property is not possible
    Consumer<byte[], byte[]> consumer() {
        try {
            return consumers.get();
        } catch (KafkaException e) {
            throw impossible(e);
        }
    }

    /// @throws IllegalArgumentException if a property is not possible
    Admin admin() {
        try {
            return admins.get();
        } catch (KafkaException e) {
            throw impossible(e);
        }
    }

    /// @param transactionalId of two producers that have it, the one that was initialized last can write
    /// @throws IllegalArgumentException if a property is not possible
    Producer<byte[], byte[]> producer(String transactionalId) {
        Map<String, Object> all = of(ProducerConfig.configNames());
        all.putIfAbsent(ProducerConfig.MAX_BLOCK_MS_CONFIG, BLOCK_MS_MAX);
        all.putIfAbsent(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, TRANSACTION_MS_MAX);
        all.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, transactionalId);
        try {
            return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
        } catch (KafkaException e) {
            throw impossible(e);
        }
    }

    /// The properties without those that only other clients have.
    private Map<String, Object> of(Set<String> names) {
        Map<String, Object> all = new HashMap<>(properties);
        all.keySet()
                .removeIf(name -> !names.contains(name)
                        && (ConsumerConfig.configNames().contains(name)
                                || ProducerConfig.configNames().contains(name)));
        return all;
    }

    private static IllegalArgumentException impossible(KafkaException e) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        return new IllegalArgumentException("No client of Kafka can be made: " + KafkaIntake.texts(cause), e);
    }
}
