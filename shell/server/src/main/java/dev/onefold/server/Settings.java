package dev.onefold.server;

import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The settings of a service that listens.
///
/// @param address of the interface
/// @param port from 1 to 65535; 0 takes a free one
/// @param tls `null` to speak without it
/// @param tokens `null` to let every caller in that reaches the address
/// @param limits of requests
/// @param proxies addresses through which many clients come: they may have more than half of all connections
public record Settings(
        InetAddress address,
        int port,
        @Nullable Tls tls,
        @Nullable Tokens tokens,
        Limits limits,
        Set<InetAddress> proxies) {
    /// @throws IllegalArgumentException if others could reach the service and see or change what it has
    public Settings {
        proxies = Set.copyOf(proxies);
        if (!address.isLoopbackAddress() && tokens == null) {
            throw new IllegalArgumentException("Others can reach the address " + address.getHostAddress()
                    + ", and there are no tokens: give a file of them");
        }
    }

    /// Without proxies.
    public Settings(InetAddress address, int port, @Nullable Tls tls, @Nullable Tokens tokens, Limits limits) {
        this(address, port, tls, tokens, limits, Set.of());
    }

    /// @param certificates a file in PEM form, the service's own first
    /// @param key its private key, a file in PEM form (PKCS #8)
    public record Tls(Path certificates, Path key) {}

    /// The limits of requests.
    ///
    /// @param bodyBytes bytes of a request's content, before and after decompression
    /// @param memoryBytes bytes of all contents that are being read or folded
    /// @param connections connections at a time; one address has at most half of them
    /// @param changes requests at a time that change or recompute data, without those that send records
    /// @param silence time without a byte until a connection ends
    /// @param bytesPerSecond slowest rate of a content; a slower sender is cut off
    /// @param requestsPerSecond requests a second of one token; as many more may come at once after a pause
    public record Limits(
            int bodyBytes,
            int memoryBytes,
            int connections,
            int changes,
            Duration silence,
            int bytesPerSecond,
            int requestsPerSecond) {
        /// Time for a reader to take 1 MiB of an answer, or all of a smaller one.
        Duration readingStretch() {
            return silence.multipliedBy(2);
        }

        public static final Limits USUAL =
                new Limits(16 << 20, 64 << 20, 4_000, 24, Duration.ofSeconds(30), 1_000, 2_000);
    }
}
