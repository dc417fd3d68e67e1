package dev.onefold.cli.trial;

import dev.onefold.cli.verbs.Totals;
import java.io.IOException;
import java.util.List;
import java.util.SequencedMap;

/// What a trial puts into the stream, and what is right for it. One thread.
interface Load extends AutoCloseable {
    /// The next records, at most so many; none at the end.
    List<byte[]> next(int most) throws IOException;

    /// The totals that are right for all that was handed out, by the name of the roll-up.
    SequencedMap<String, Totals> right();

    @Override
    void close();
}
