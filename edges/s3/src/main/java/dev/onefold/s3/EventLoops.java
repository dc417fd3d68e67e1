package dev.onefold.s3;

import software.amazon.awssdk.http.nio.netty.SdkEventLoopGroup;

/// The threads that all clients of AWS in this process share. A client with threads of its own waits at its end until
/// they have been quiet for two seconds, and with it each command that ends. These need no end: they are daemons.
public final class EventLoops {
    /// Any client may use it; none closes it.
    public static final SdkEventLoopGroup SHARED = SdkEventLoopGroup.builder()
            .threadFactory(Thread.ofPlatform().daemon().name("aws-", 0).factory())
            .build();

    private EventLoops() {}
}
