package dev.onefold.sftp;

import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.receivers.Context;
import dev.onefold.receivers.Handover;
import dev.onefold.receivers.Receiver;
import dev.onefold.receivers.Receivers;
import dev.onefold.sftp.RemoteFile.Content;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.sshd.common.NamedResource;
import org.apache.sshd.common.config.keys.FilePasswordProvider;
import org.apache.sshd.common.util.security.SecurityUtils;
import org.apache.sshd.sftp.client.SftpClient;

/// Makes a file of each batch on an SFTP server, and then its manifest beside it, which shows that the
/// content is whole. The server's key has to be among the known hosts. Each attempt has a connection of its
/// own.
public final class SftpReceiver implements Receiver {
    private static final Duration DELIVERY_MAX = Duration.ofHours(1);

    private final SftpAddress address;
    private final boolean hasManifest;
    private final Connections connections;
    private final Parts parts;

    private SftpReceiver(Destination destination, SftpAddress address, Connections connections) {
        this.address = address;
        hasManifest = destination.hasManifest();
        parts = new Parts(destination);
        this.connections = connections;
    }

    /// Opens the receiver. No connection is made.
    ///
    /// @throws IllegalArgumentException saying which of address, known hosts, key or password is wrong, and
    ///     why
    public static Receiver open(Batching batching, Context context) {
        Destination destination = batching.deliver();
        SftpAddress address = SftpAddress.of(destination);
        Path hosts = destination
                .option("known-hosts")
                .map(name -> context.folder().resolve(name))
                .orElseGet(() -> Path.of(System.getProperty("user.home"), ".ssh", "known_hosts"));
        if (!Files.isRegularFile(hosts)) {
            throw new IllegalArgumentException("There is no file " + hosts + " with the key of " + address.host()
                    + ". Write it with 'ssh-keyscan', compare the key, and name the file as 'known-hosts'");
        }
        return new SftpReceiver(destination, address, Connections.open(address, hosts, login(destination, context)));
    }

    private static Connections.Login login(Destination destination, Context context) {
        Optional<String> password = destination.option("password").map(name -> secret(name, context));
        Optional<String> key = destination.option("identity").map(name -> secret(name, context));
        if (key.isEmpty()) {
            return new Connections.Login(
                    password.orElseThrow(() -> new IllegalArgumentException(
                            "'identity' or 'password' is missing. Name an environment variable that holds a private"
                                    + " key, or one that holds a password")),
                    null);
        }
        try (ByteArrayInputStream text = new ByteArrayInputStream(key.get().getBytes(StandardCharsets.UTF_8))) {
            Iterable<KeyPair> pairs = SecurityUtils.loadKeyPairIdentities(
                    null,
                    NamedResource.ofName("identity"),
                    text,
                    password.map(FilePasswordProvider::of).orElse(FilePasswordProvider.EMPTY));
            if (pairs == null || !pairs.iterator().hasNext()) {
                throw new IllegalArgumentException("The variable "
                        + destination.option("identity").orElse("") + ", which 'identity' names, holds no private key");
            }
            return new Connections.Login("", pairs.iterator().next());
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(
                    "The private key in the variable "
                            + destination.option("identity").orElse("")
                            + ", which 'identity' names, cannot be read: " + e.getMessage()
                            + ". It is a key of RSA, ECDSA or Ed25519 in the form of OpenSSH or PEM",
                    e);
        }
    }

    private static String secret(String variable, Context context) {
        String value = context.environment().get(variable);
        if (value == null || value.isBlank()) {
            throw new IllegalArgumentException("The environment variable " + variable
                    + " is not set. It holds the password or the private key for the SFTP server");
        }
        return value;
    }

    @Override
    public Optional<String> trouble() {
        return Receivers.unknownHost(address.host());
    }

    @Override
    public Outcome deliver(Handover handover) throws InterruptedException {
        Connections.Connection connection;
        try {
            connection = connections.connect();
        } catch (Connections.NotConnected e) {
            return stopped(e, new Outcome.NotNow(e.reason(), null)); // No file was begun.
        }
        CompletableFuture<Void> limit = CompletableFuture.runAsync(
                connection::end, CompletableFuture.delayedExecutor(DELIVERY_MAX.toMillis(), TimeUnit.MILLISECONDS));
        try (connection) {
            return make(connection.files(), handover);
        } catch (RemoteFile.NotMade e) {
            handover.verify(); // If its own content is damaged, that is the failure.
            return stopped(
                    e,
                    new Outcome.NotNow(
                            address.at(address.path(handover.manifest().number())) + " could not be written: " + said(e)
                                    + ". Check the folder, its permissions and its space",
                            null));
        } catch (IOException e) {
            return stopped(
                    e,
                    new Outcome.Unknown("The delivery to " + address.host() + " has failed, and its file may be there: "
                            + said(e)));
        } catch (IllegalStateException e) { // The library throws this when a connection hangs.
            return stopped(
                    e,
                    new Outcome.Unknown("The connection to " + address.host()
                            + " hangs, or was closed, and its file may be there: " + said(e)
                            + ". Look whether the server answers"));
        } finally {
            limit.cancel(true);
        }
    }

    private static String said(Exception e) {
        Throwable cause = e instanceof RemoteFile.NotMade && e.getCause() != null ? e.getCause() : e;
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }

    private Outcome make(SftpClient files, Handover handover) throws IOException {
        Manifest manifest = handover.manifest();
        String path = address.path(manifest.number());
        parts.sweep(files, path);
        if (!make(files, path, new Content(handover::open, manifest.bytes(), manifest.sha256()))) {
            return conflict(path, "batch " + manifest.id());
        }
        if (hasManifest) {
            int name = path.lastIndexOf('/') + 1;
            String at = path.substring(0, name) + Receivers.manifestName(path.substring(name));
            byte[] text = (manifest.in(path.substring(name)).toJson() + "\n").getBytes(StandardCharsets.UTF_8);
            try {
                if (!make(
                        files, at, new Content(() -> new ByteArrayInputStream(text), text.length, Sha256.hex(text)))) {
                    return conflict(at, "the manifest of batch " + manifest.id());
                }
            } catch (RemoteFile.NotMade e) {
                throw new IOException(address.at(at) + " could not be written: " + said(e), e); // The content is there.
            }
        }
        return new Outcome.Done();
    }

    private boolean make(SftpClient files, String path, Content content) throws IOException {
        String part = RemoteFile.part(path);
        boolean isMade = false;
        try {
            boolean isSame = new RemoteFile(files, path, part).make(content);
            isMade = true;
            return isSame;
        } finally {
            if (!isMade) {
                parts.leave(files, part);
            }
        }
    }

    private Outcome conflict(String file, String what) {
        return new Outcome.Conflict(address.at(file) + " is there already, and is not " + what
                + ". Find out who wrote it; move it away before the batch is released");
    }

    /// The outcome, unless the thread was interrupted.
    private static Outcome stopped(Exception cause, Outcome outcome) throws InterruptedException {
        if (Thread.interrupted()) {
            InterruptedException interrupted = new InterruptedException("Interrupted while a batch was delivered");
            interrupted.initCause(cause);
            throw interrupted;
        }
        return outcome;
    }

    @Override
    public void close() {
        connections.close();
    }
}
