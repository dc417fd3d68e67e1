package dev.onefold.benchmark;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;

/// Readers of streams of changes, all on one thread, which reads what comes and looks at nothing of it.
final class Readers implements AutoCloseable {
    private static final int BUFFER_BYTES = 256 << 10;

    private final Selector selector = Selector.open();
    private final AtomicLong bytes = new AtomicLong();
    private final Thread thread = Thread.ofPlatform().name("readers").unstarted(this::read);
    private volatile boolean isOver;

    /// @param path of each reader's stream
    Readers(URI service, int count, IntFunction<String> path) throws IOException {
        for (int i = 0; i < count; i++) {
            SocketChannel channel = SocketChannel.open(new InetSocketAddress(service.getHost(), service.getPort()));
            channel.write(ByteBuffer.wrap(Connection.get(path.apply(i))));
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ);
        }
        thread.start();
    }

    /// How many bytes have come.
    long bytes() {
        return bytes.get();
    }

    private void read() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
        try {
            while (!isOver) {
                selector.select(key -> {
                    try {
                        int read = ((SocketChannel) key.channel()).read(buffer.clear());
                        bytes.addAndGet(Math.max(0, read));
                        if (read < 0) {
                            key.cancel();
                        }
                    } catch (IOException cutOff) {
                        key.cancel();
                    }
                });
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        isOver = true;
        selector.wakeup();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        for (SelectionKey key : selector.keys()) {
            key.channel().close();
        }
        selector.close();
    }
}
