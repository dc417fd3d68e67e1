package dev.onefold.sftp;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.PublicKey;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.sshd.client.SshClient;
import org.apache.sshd.client.config.hosts.HostConfigEntryResolver;
import org.apache.sshd.client.config.hosts.KnownHostEntry;
import org.apache.sshd.client.keyverifier.KnownHostsServerKeyVerifier;
import org.apache.sshd.client.keyverifier.RejectAllServerKeyVerifier;
import org.apache.sshd.client.keyverifier.ServerKeyVerifier;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.AttributeRepository.AttributeKey;
import org.apache.sshd.common.NamedFactory;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.keyprovider.KeyIdentityProvider;
import org.apache.sshd.common.signature.Signature;
import org.apache.sshd.sftp.client.SftpClient;
import org.apache.sshd.sftp.client.SftpClientFactory;
import org.jspecify.annotations.Nullable;

/// Connects to an SFTP server whose key is among the known hosts. Any thread may call.
final class Connections implements AutoCloseable {
    private static final Duration CONNECTING_MAX = Duration.ofSeconds(30);
    private static final int CAUSES_MAX = 20;
    private static final AttributeKey<String> UNKNOWN_KEY = new AttributeKey<>();

    private final SftpAddress address;
    private final Path hosts;
    private final SshClient client;
    private final Login login;

    /// The credentials of a connection: a password or a key.
    ///
    /// @param password the password; empty if there is a key
    /// @param key the key pair; `null` if there is a password
    record Login(String password, @Nullable KeyPair key) {
        private void addTo(ClientSession session) {
            if (key == null) {
                session.addPasswordIdentity(password);
            } else {
                session.addPublicKeyIdentity(key);
            }
        }
    }

    /// There is no connection; the reason says what to do.
    static final class NotConnected extends IOException {
        private static final long serialVersionUID = 1;

        private final String reason;

        NotConnected(String reason, Exception cause) {
            super(reason, cause);
            this.reason = reason;
        }

        String reason() {
            return reason;
        }
    }

    /// A connection, and the files behind it.
    record Connection(ClientSession session, SftpClient files) implements AutoCloseable {
        /// Ends it at once, also if an operation is under way.
        void end() {
            session.close(true);
        }

        @Override
        public void close() throws IOException {
            try (session) {
                files.close();
            }
        }
    }

    private Connections(SftpAddress address, Path hosts, SshClient client, Login login) {
        this.address = address;
        this.hosts = hosts;
        this.client = client;
        this.login = login;
    }

    /// Makes no connection yet.
    ///
    /// @param hosts the file of known hosts
    /// @throws IllegalArgumentException if it cannot be read
    static Connections open(SftpAddress address, Path hosts, Login login) {
        SshClient client = SshClient.setUpDefaultClient();
        client.setServerKeyVerifier(
                noting(new KnownHostsServerKeyVerifier(RejectAllServerKeyVerifier.INSTANCE, hosts)));
        client.setKeyIdentityProvider(KeyIdentityProvider.EMPTY_KEYS_PROVIDER);
        client.setHostConfigEntryResolver(HostConfigEntryResolver.EMPTY);
        Connections connections = new Connections(address, hosts, client, login);
        connections.askForKnownKinds();
        client.start();
        return connections;
    }

    /// A key that somebody adds to the file while this runs is found as well.
    private void askForKnownKinds() {
        client.setSignatureFactories(knownFirst(client.getSignatureFactories(), kinds(address, hosts)));
    }

    /// The kinds of key that are known of the server.
    private static Set<String> kinds(SftpAddress address, Path hosts) {
        try {
            return KnownHostEntry.readKnownHostEntries(hosts).stream()
                    .filter(entry -> entry.isHostMatch(address.host(), address.port()))
                    .map(entry -> entry.getKeyEntry().getKeyType())
                    .collect(Collectors.toSet());
        } catch (IOException | RuntimeException e) {
            throw new IllegalArgumentException("The file " + hosts + " cannot be read: " + e.getMessage(), e);
        }
    }

    /// A server has keys of several kinds, and shows one: of the kind that the client asks for first.
    private static List<NamedFactory<Signature>> knownFirst(List<NamedFactory<Signature>> all, Set<String> kinds) {
        return all.stream()
                .sorted(Comparator.comparing(
                        factory -> !kinds.contains(KeyUtils.getCanonicalKeyType(factory.getName()))))
                .toList();
    }

    /// Notes a key that is refused, for the message.
    private static ServerKeyVerifier noting(ServerKeyVerifier verifier) {
        return (session, remote, key) -> {
            boolean isKnown = verifier.verifyServerKey(session, remote, key);
            if (!isKnown) {
                session.setAttribute(UNKNOWN_KEY, named(key));
            }
            return isKnown;
        };
    }

    private static String named(PublicKey key) {
        return KeyUtils.getKeyType(key) + " " + KeyUtils.getFingerPrint(key);
    }

    /// @throws NotConnected for any reason; nothing was done at the server
    Connection connect() throws NotConnected {
        ClientSession session;
        try {
            askForKnownKinds();
            session = client.connect(address.user(), address.host(), address.port())
                    .verify(CONNECTING_MAX)
                    .getSession();
        } catch (IOException | RuntimeException e) {
            throw new NotConnected(
                    place() + " cannot be reached: " + said(e) + ". Check the address, and whether the server runs", e);
        }
        try {
            login.addTo(session);
            session.auth().verify(CONNECTING_MAX);
            return new Connection(session, SftpClientFactory.instance().createSftpClient(session));
        } catch (IOException | RuntimeException e) {
            String unknown = session.getAttribute(UNKNOWN_KEY);
            boolean isIn = session.isAuthenticated();
            session.close(true);
            throw new NotConnected(
                    unknown != null
                            ? place() + " shows the key " + unknown + ", which is not in " + hosts
                                    + ". Compare it with the server's own, and add it there"
                            : isIn
                                    ? place() + " offers no SFTP: " + said(e)
                                    : place() + " did not let " + address.user() + " in: " + said(e)
                                            + ". Check the user, and the key or the password",
                    e);
        }
    }

    private String place() {
        return address.host() + ":" + address.port();
    }

    private static String said(Exception e) {
        Throwable cause = e;
        for (int i = 0; i < CAUSES_MAX && cause.getCause() != null; i++) {
            cause = cause.getCause();
        }
        return switch (cause) {
            case UnknownHostException unknown -> "the name " + unknown.getMessage() + " is not known";
            case ConnectException refused -> String.valueOf(refused.getMessage());
            default -> cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        };
    }

    @Override
    public void close() {
        client.stop();
    }
}
