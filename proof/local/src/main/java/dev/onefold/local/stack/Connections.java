package dev.onefold.local.stack;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import software.amazon.awssdk.http.Protocol;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.SdkEventLoopGroup;

/// What all clients of a deployment share. A client's own threads would take two seconds to end.
public final class Connections implements AutoCloseable {
    private static final int THREADS = 2;
    private static final int CONNECTIONS_MAX = 200;
    private static final int WAITING_MAX = 50_000;
    private static final Duration READ_MAX = Duration.ofSeconds(30);

    private final EventLoopGroup threads = new NioEventLoopGroup(
            THREADS, Thread.ofPlatform().daemon().name("client-", 0).factory());
    private final SdkAsyncHttpClient http = NettyNioAsyncHttpClient.builder()
            .eventLoopGroup(SdkEventLoopGroup.create(threads, NioSocketChannel::new))
            .protocol(Protocol.HTTP1_1) // Kinesis would speak HTTP/2, which the gate does not.
            .maxConcurrency(CONNECTIONS_MAX)
            .maxPendingConnectionAcquires(WAITING_MAX)
            .connectionAcquisitionTimeout(READ_MAX)
            .readTimeout(READ_MAX)
            .build();

    /// What sends their requests.
    public SdkAsyncHttpClient http() {
        return http;
    }

    @Override
    public void close() {
        http.close();
        var _ = threads.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
