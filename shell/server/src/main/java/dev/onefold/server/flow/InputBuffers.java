package dev.onefold.server.flow;

import org.eclipse.jetty.io.ByteBufferPool;
import org.eclipse.jetty.io.RetainableByteBuffer;
import org.eclipse.jetty.server.HttpConfiguration;

/// The pool of a service's buffers. A buffer into which a connection of HTTP/1.1 reads is not used again. Any thread
/// may call.
///
/// Jetty (12.1.14) answers a request that cannot be parsed on another thread, which then goes on with the connection,
/// while the first thread has yet to give the buffer back. So a connection may read into a buffer that is another
/// connection's already: that one would answer a request twice, or take the bytes of others for its own.
public final class InputBuffers extends ByteBufferPool.Wrapper {
    private static final int BYTES = 16 << 10; // Those of TLS are larger, and in the pool.

    /// @param pool of all other buffers
    public InputBuffers(ByteBufferPool pool) {
        super(pool);
    }

    /// A configuration for HTTP/1.1 alone, whose connections read into such buffers: HTTP/2 sets sizes of its own.
    public static HttpConfiguration configured(HttpConfiguration http) {
        HttpConfiguration http1 = new HttpConfiguration(http);
        http1.setInputBufferSize(BYTES);
        http1.setUseInputDirectByteBuffers(false); // What is written is direct, and in the pool.
        return http1;
    }

    @Override
    public RetainableByteBuffer.Mutable acquire(int size, boolean isDirect) {
        return size == BYTES && !isDirect ? NON_POOLING.acquire(size, isDirect) : super.acquire(size, isDirect);
    }
}
