package dev.onefold.embedded.delivery;

import dev.onefold.core.batch.Members;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/// The lines of some members of a batch. It reads the whole batch to its end, which is checked.
final class SomeLines extends FilterInputStream {
    private final Members members;
    private int range;
    private int line;

    SomeLines(InputStream whole, Members members) {
        super(whole);
        this.members = members;
    }

    @Override
    public int read() throws IOException {
        while (true) {
            int next = super.read();
            if (next < 0) {
                return -1;
            }
            boolean isWanted = range < members.ranges().size()
                    && line >= members.ranges().get(range).from();
            if (next == '\n') {
                line++;
                if (range < members.ranges().size()
                        && line == members.ranges().get(range).to()) {
                    range++;
                }
            }
            if (isWanted) {
                return next;
            }
        }
    }

    @Override
    public int read(byte[] target, int from, int length) throws IOException {
        int count = 0;
        while (count < length) {
            int next = read();
            if (next < 0) {
                return count == 0 ? -1 : count;
            }
            target[from + count++] = (byte) next;
        }
        return count;
    }
}
