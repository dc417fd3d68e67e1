package dev.onefold.fakes.disk;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileLock;

/// A lock that the process holds on a file, until it is released or its channel is closed.
final class SimulatedLock extends FileLock {
    /// What is locked: bytes `[position, position + size)`.
    record Region(long position, long size, boolean shared) {}

    private final SimulatedChannel channel;

    SimulatedLock(SimulatedChannel channel, Region region) {
        super(channel, region.position, region.size, region.shared);
        this.channel = channel;
    }

    @Override
    public boolean isValid() {
        return channel.isOpen() && channel.holds(this);
    }

    @Override
    public void release() throws IOException {
        if (!channel.isOpen()) {
            throw new ClosedChannelException();
        }
        channel.release(this);
    }
}
