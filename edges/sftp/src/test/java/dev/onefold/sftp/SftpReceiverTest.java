package dev.onefold.sftp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.EngineException;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.receivers.Context;
import dev.onefold.receivers.Handover;
import dev.onefold.receivers.Receiver;
import dev.onefold.receivers.Verification;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.CopyOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.config.keys.writer.openssh.OpenSSHKeyPairResourceWriter;
import org.apache.sshd.common.file.virtualfs.VirtualFileSystemFactory;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.session.ServerSession;
import org.apache.sshd.sftp.server.FileHandle;
import org.apache.sshd.sftp.server.Handle;
import org.apache.sshd.sftp.server.SftpEventListener;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// On a real SFTP server, the library's own.
class SftpReceiverTest {
    private static final Instant SEALED = Instant.parse("2026-02-03T04:05:06Z");
    private static final String CONTENT = "{\"id\":1}\n{\"id\":2}\n";
    private static final String OTHER = "{\"id\":1}\n{\"id\":3}\n";
    private static final String FILE = "quakes-000001.ndjson";

    /// Keys take long to make, so all tests share three.
    private static final KeyPair HOST = pair();
    private static final KeyPair USER = pair();
    private static final KeyPair OTHER_HOST = pair();

    @TempDir
    private Path root;

    @TempDir
    private Path own;

    private SshServer server;
    private KeyPair key = USER;
    private final AtomicReference<String> breaksAfter = new AtomicReference<>("");

    /// A part of the names of files that cannot be opened or removed.
    private final AtomicReference<String> refused = new AtomicReference<>("none");

    private static KeyPair pair() {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(2048);
            return generator.generateKeyPair();
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    @BeforeEach
    void start() throws IOException {
        server = SshServer.setUpDefaultServer();
        server.setHost("127.0.0.1");
        server.setKeyPairProvider(KeyPairProvider.wrap(HOST));
        server.setPasswordAuthenticator((user, password, _) -> user.equals("me") && password.equals("secret"));
        server.setPublickeyAuthenticator(
                (user, offered, _) -> user.equals("me") && KeyUtils.compareKeys(offered, key.getPublic()));
        server.setFileSystemFactory(new VirtualFileSystemFactory(root));
        SftpSubsystemFactory files = new SftpSubsystemFactory.Builder().build();
        files.addSftpEventListener(new SftpEventListener() {
            @Override
            public void moved(
                    ServerSession session, Path from, Path to, Collection<CopyOption> options, Throwable thrown) {
                breakAfter(session, "rename");
            }

            @Override
            public void opening(ServerSession session, String remote, Handle handle) throws IOException {
                if (handle.getFile().toString().contains(refused.get())) {
                    throw new AccessDeniedException(handle.getFile().toString());
                }
            }

            @Override
            public void removing(ServerSession session, Path path, boolean isDirectory) throws IOException {
                if (path.toString().contains(refused.get())) {
                    throw new AccessDeniedException(path.toString());
                }
            }

            @Override
            public void closed(ServerSession session, String remote, Handle handle, Throwable thrown) {
                if (handle instanceof FileHandle) {
                    breakAfter(session, "close");
                }
            }
        });
        server.setSubsystemFactories(List.of(files));
        server.start();
        Files.createDirectory(root.resolve("drop"));
        know(HOST);
    }

    private void breakAfter(ServerSession session, String step) {
        if (breaksAfter.get().equals(step)) {
            session.close(true);
        }
    }

    private void know(KeyPair known) throws IOException {
        Files.writeString(
                own.resolve("hosts"),
                "[127.0.0.1]:" + server.getPort() + " " + PublicKeyEntry.toString(known.getPublic()) + "\n");
    }

    @AfterEach
    void stop() throws IOException {
        server.stop(true);
    }

    private Receiver open(Map<String, String> options, Map<String, String> environment) {
        Map<String, String> all = new TreeMap<>(options);
        all.putIfAbsent("known-hosts", "hosts");
        all.put("manifest", "true");
        Batching batching = new Batching(
                10,
                Batching.BYTES_DEFAULT,
                Duration.ofMinutes(1),
                new Destination(
                        Kind.SFTP,
                        List.of("sftp://me@127.0.0.1:" + server.getPort() + "/drop/quakes-{number}.ndjson"),
                        new TreeMap<>(all)),
                Batching.Receiver.IDEMPOTENT,
                false,
                Batching.Order.ANY,
                4,
                Batching.RETRY_DEFAULT,
                new Batching.Forget.Never(),
                null);
        return SftpReceiver.open(
                batching,
                new Context(own, own, environment::get, getClass().getClassLoader(), Map.of(), new Format.Json()));
    }

    private Receiver open() {
        return open(Map.of("password", "SECRET"), Map.of("SECRET", "secret"));
    }

    private static Manifest manifest(int number, String content, String previous) {
        BatchNumber batch = BatchNumber.of(number);
        byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
        return new Manifest(
                Manifest.id("quakes", batch),
                batch,
                "",
                content.lines().count(),
                bytes.length,
                Sha256.hex(bytes),
                previous,
                "",
                SEALED,
                SEALED,
                SEALED);
    }

    private static Handover handover(Manifest manifest, String content) {
        return new Handover(manifest, 1, () -> new ByteArrayInputStream(content.getBytes(StandardCharsets.UTF_8)));
    }

    private static Handover handover(String content) {
        return handover(manifest(1, content, ""), content);
    }

    private String text(String name) throws IOException {
        return Files.readString(root.resolve("drop").resolve(name));
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(root.resolve("drop"))) {
            return files.map(file -> String.valueOf(file.getFileName()))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void batches_are_files_that_their_manifests_prove() throws IOException, InterruptedException {
        try (Receiver receiver = open()) {
            String previous = "";
            for (int number = 1; number <= 3; number++) {
                String content = ("{\"id\":" + number + "}\n").repeat(20_000);
                Manifest manifest = manifest(number, content, previous);
                assertThat(receiver.deliver(handover(manifest, content))).isEqualTo(new Outcome.Done());
                previous = manifest.sha256();
            }
        }
        assertThat(Verification.of(root.resolve("drop"), 1).findings()).isEmpty();
        assertThat(names()).hasSize(6);
    }

    @Test
    void a_private_key_is_taken_from_the_environment() throws IOException, InterruptedException {
        String pem = "-----BEGIN PRIVATE KEY-----\n"
                + Base64.getMimeEncoder().encodeToString(key.getPrivate().getEncoded())
                + "\n-----END PRIVATE KEY-----\n";
        try (Receiver receiver = open(Map.of("identity", "KEY"), Map.of("KEY", pem))) {
            assertThat(receiver.deliver(handover(CONTENT))).isEqualTo(new Outcome.Done());
        }
        assertThat(text(FILE)).isEqualTo(CONTENT);
    }

    @Test
    void keys_of_each_kind_that_ssh_makes_are_taken_for_the_user_and_from_the_server()
            throws IOException, InterruptedException, GeneralSecurityException {
        KeyPair ed = KeyUtils.generateKeyPair(KeyPairProvider.SSH_ED25519, 256);
        KeyPair ec = KeyUtils.generateKeyPair(KeyPairProvider.ECDSA_SHA2_NISTP256, 256);
        KeyPair rsa = HOST;
        server.setKeyPairProvider(KeyPairProvider.wrap(rsa, ec, ed));
        int number = 0;
        for (KeyPair known : List.of(ed, ec, rsa)) {
            know(known); // Of a server that has all three, as ssh writes it at the first contact.
            for (KeyPair user : List.of(ed, ec, rsa)) {
                key = user;
                ByteArrayOutputStream text = new ByteArrayOutputStream();
                OpenSSHKeyPairResourceWriter.INSTANCE.writePrivateKey(user, "me", null, text);
                number++;
                try (Receiver receiver =
                        open(Map.of("identity", "KEY"), Map.of("KEY", text.toString(StandardCharsets.UTF_8)))) {
                    assertThat(receiver.deliver(handover(manifest(number, CONTENT, ""), CONTENT)))
                            .isEqualTo(new Outcome.Done());
                }
            }
        }
        assertThat(names()).hasSize(2 * number);
    }

    @Test
    void the_same_content_is_done_and_another_one_stays_as_it_is() throws IOException, InterruptedException {
        try (Receiver receiver = open()) {
            assertThat(receiver.deliver(handover(CONTENT))).isEqualTo(new Outcome.Done());
            assertThat(receiver.deliver(handover(CONTENT))).isEqualTo(new Outcome.Done());
            for (String other : List.of(OTHER, CONTENT + CONTENT)) {
                assertThat(receiver.deliver(handover(other)))
                        .isInstanceOfSatisfying(
                                Outcome.Conflict.class,
                                conflict -> assertThat(conflict.reason())
                                        .startsWith("/drop/quakes-000001.ndjson on 127.0.0.1 is there already"));
            }
        }
        assertThat(text(FILE)).isEqualTo(CONTENT);
        assertThat(names()).containsExactly("quakes-000001.json", FILE);
    }

    @Test
    void a_server_that_is_not_known_gets_nothing() throws IOException, InterruptedException {
        know(OTHER_HOST);
        try (Receiver receiver = open()) {
            assertThat(receiver.deliver(handover(CONTENT)))
                    .isInstanceOfSatisfying(
                            Outcome.NotNow.class,
                            outcome -> assertThat(outcome.reason())
                                    .contains(
                                            "127.0.0.1:" + server.getPort() + " shows the key ssh-rsa "
                                                    + KeyUtils.getFingerPrint(HOST.getPublic()),
                                            "which is not in " + own.resolve("hosts")));
        }
        Files.writeString(own.resolve("hosts"), "");
        try (Receiver receiver = open()) {
            assertThat(receiver.deliver(handover(CONTENT))).isInstanceOf(Outcome.NotNow.class);
        }
        assertThat(names()).isEmpty();
    }

    @Test
    void a_key_of_another_kind_that_is_made_known_later_is_asked_for()
            throws IOException, InterruptedException, GeneralSecurityException {
        KeyPair ed = KeyUtils.generateKeyPair(KeyPairProvider.SSH_ED25519, 256);
        server.setKeyPairProvider(KeyPairProvider.wrap(HOST, ed));
        know(OTHER_HOST);
        try (Receiver receiver = open()) {
            assertThat(receiver.deliver(handover(CONTENT))).isInstanceOf(Outcome.NotNow.class);
            know(ed);
            assertThat(receiver.deliver(handover(CONTENT))).isEqualTo(new Outcome.Done());
        }
    }

    @Test
    void a_wrong_password_a_missing_folder_and_a_server_that_is_gone_are_not_now()
            throws IOException, InterruptedException {
        try (Receiver receiver = open(Map.of("password", "SECRET"), Map.of("SECRET", "guess"))) {
            assertThat(receiver.deliver(handover(CONTENT)))
                    .isInstanceOfSatisfying(
                            Outcome.NotNow.class,
                            outcome -> assertThat(outcome.reason()).contains("did not let me in", "password"));
        }
        try (Receiver receiver = open()) {
            Files.delete(root.resolve("drop"));
            assertThat(receiver.deliver(handover(CONTENT)))
                    .isInstanceOfSatisfying(
                            Outcome.NotNow.class,
                            outcome ->
                                    assertThat(outcome.reason()).contains("could not be written", "Check the folder"));
            server.stop(true);
            assertThat(receiver.deliver(handover(CONTENT)))
                    .isInstanceOfSatisfying(
                            Outcome.NotNow.class,
                            outcome -> assertThat(outcome.reason())
                                    .contains("cannot be reached: Connection refused")
                                    .doesNotContain("Future", "Exception"));
        }
    }

    @Test
    void a_connection_that_breaks_before_the_rename_has_no_effect() throws IOException, InterruptedException {
        try (Receiver receiver = open()) {
            breaksAfter.set("close");
            assertThat(receiver.deliver(handover(CONTENT))).isInstanceOf(Outcome.NotNow.class);
            assertThat(root.resolve("drop").resolve(FILE)).doesNotExist();
            breaksAfter.set("");
            assertThat(receiver.deliver(handover(CONTENT))).isEqualTo(new Outcome.Done());
        }
        assertThat(names()).containsExactly("quakes-000001.json", FILE);
    }

    @Test
    void an_attempt_that_the_server_ends_later_never_publishes_what_another_one_has_half_written()
            throws IOException, InterruptedException {
        try (Receiver receiver = open()) {
            breaksAfter.set("close"); // The server keeps the part of the first attempt, as for a session that hangs.
            assertThat(receiver.deliver(handover(CONTENT))).isInstanceOf(Outcome.NotNow.class);
            breaksAfter.set("");
            List<String> first = names();
            assertThat(first).hasSize(1);
            byte[] bytes = CONTENT.getBytes(StandardCharsets.UTF_8);
            Handover second = new Handover(manifest(1, CONTENT, ""), 2, () -> new ByteArrayInputStream(bytes) {
                @Override
                public synchronized int read(byte[] buffer, int offset, int length) {
                    // The rename of the first attempt, while the second one writes.
                    renameIfThere(root.resolve("drop").resolve(first.getFirst()));
                    return super.read(buffer, offset, Math.min(length, 5));
                }
            });
            assertThat(receiver.deliver(second)).isEqualTo(new Outcome.Done());
            assertThat(text(FILE)).isEqualTo(CONTENT);
        }
        assertThat(names()).containsExactly("quakes-000001.json", FILE);
    }

    private void renameIfThere(Path part) {
        try {
            if (Files.exists(part) && Files.notExists(root.resolve("drop").resolve(FILE))) {
                Files.move(part, root.resolve("drop").resolve(FILE));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void leaveADayAgo(List<String> parts) throws IOException {
        for (String name : parts) {
            Path file = Files.writeString(root.resolve("drop").resolve(name), "half");
            Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(Duration.ofHours(25))));
        }
    }

    @Test
    void a_part_that_may_not_be_removed_does_not_keep_the_others() throws IOException, InterruptedException {
        refused.set("0000000000000005");
        leaveADayAgo(IntStream.range(0, 10)
                .mapToObj(i -> ".quakes-000007.ndjson.%016x.part".formatted(i))
                .toList());
        try (Receiver receiver = open()) {
            assertThat(receiver.deliver(handover(CONTENT))).isEqualTo(new Outcome.Done());
        }
        assertThat(names()).containsExactly(".quakes-000007.ndjson.0000000000000005.part", "quakes-000001.json", FILE);
    }

    @Test
    void parts_that_a_killed_run_left_a_day_ago_are_removed_and_no_other_file()
            throws IOException, InterruptedException {
        leaveADayAgo(List.of(
                ".quakes-000007.ndjson.0123456789abcdef.part",
                ".quakes-000007.1.json.01234567.part",
                ".other-000007.ndjson.0123456789abcdef.part",
                ".quakes-000007.ndjson.part"));
        Files.writeString(root.resolve("drop").resolve(".quakes-000008.ndjson.0123456789abcdef.part"), "half");
        try (Receiver receiver = open()) {
            assertThat(receiver.deliver(handover(CONTENT))).isEqualTo(new Outcome.Done());
        }
        assertThat(names())
                .containsExactly(
                        ".other-000007.ndjson.0123456789abcdef.part",
                        ".quakes-000007.ndjson.part",
                        ".quakes-000008.ndjson.0123456789abcdef.part",
                        "quakes-000001.json",
                        FILE);
    }

    @Test
    void a_connection_that_breaks_after_the_rename_is_unknown_and_found_by_the_next_attempt()
            throws IOException, InterruptedException {
        try (Receiver receiver = open()) {
            breaksAfter.set("rename");
            assertThat(receiver.deliver(handover(CONTENT))).isInstanceOf(Outcome.Unknown.class);
            assertThat(text(FILE)).isEqualTo(CONTENT);
            assertThat(names()).containsExactly(FILE);
            breaksAfter.set("");
            assertThat(receiver.deliver(handover(CONTENT))).isEqualTo(new Outcome.Done());
        }
        assertThat(names()).containsExactly("quakes-000001.json", FILE);
    }

    @Test
    void a_failure_after_the_content_has_its_name_is_unknown_and_the_next_attempt_looks()
            throws IOException, InterruptedException {
        try (Receiver receiver = open()) {
            refused.set(".json");
            assertThat(receiver.deliver(handover(CONTENT)))
                    .isInstanceOfSatisfying(
                            Outcome.Unknown.class,
                            outcome -> assertThat(outcome.reason())
                                    .contains("/drop/quakes-000001.json on 127.0.0.1 could not be written"));
            refused.set(FILE);
            assertThat(receiver.deliver(handover(CONTENT))).isInstanceOf(Outcome.Unknown.class);
            assertThat(names()).containsExactly(FILE);
            refused.set("none");
            assertThat(receiver.deliver(handover(CONTENT))).isEqualTo(new Outcome.Done());
        }
        assertThat(names()).containsExactly("quakes-000001.json", FILE);
    }

    @Test
    void a_damaged_content_makes_no_file() throws IOException {
        try (Receiver receiver = open()) {
            assertThatThrownBy(() -> receiver.deliver(handover(manifest(1, CONTENT, ""), OTHER)))
                    .isInstanceOf(EngineException.class)
                    .hasMessageContaining("It is not delivered");
        }
        assertThat(root.resolve("drop").resolve(FILE)).doesNotExist();
    }

    @Test
    void what_cannot_be_right_is_refused_at_the_start() {
        assertThatThrownBy(() -> open(Map.of(), Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'identity' or 'password' is missing");
        assertThatThrownBy(() -> open(Map.of("password", "SECRET"), Map.of()))
                .hasMessageContaining("The environment variable SECRET is not set");
        assertThatThrownBy(() -> open(Map.of("identity", "KEY"), Map.of("KEY", "not a key")))
                .hasMessageContaining("identity");
        assertThatThrownBy(() -> open(Map.of("password", "SECRET", "known-hosts", "none"), Map.of("SECRET", "secret")))
                .hasMessageContaining("There is no file " + own.resolve("none"));
    }
}
