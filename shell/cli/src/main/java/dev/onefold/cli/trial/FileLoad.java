package dev.onefold.cli.trial;

import dev.onefold.cli.aws.RecordLines;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.InputFile;
import dev.onefold.cli.verbs.Totals;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/// Lines of files. The embedded engine computes the right totals for them, in a folder of its own.
final class FileLoad implements TrialLoad {
    private static final String SOURCE = "trial";

    private final InputStream in;
    private final RecordLines lines;
    private final EmbeddedEngine engine;
    private final List<String> rollups;
    private byte @Nullable [] first;
    private long records; // Lines, where a record may have several.

    /// @param folder that is empty
    /// @throws CommandFailure if there is no record
    FileLoad(Caller caller, Pipeline pipeline, List<String> files, Path folder) throws IOException {
        List<InputStream> parts = new ArrayList<>();
        for (String file : files) {
            parts.add(InputFile.of(caller, file).open());
            parts.add(new ByteArrayInputStream(new byte[] {'\n'})); // The last line of a file may have no end.
        }
        in = new SequenceInputStream(Collections.enumeration(parts));
        lines = new RecordLines(RecordEnds.ofSource(pipeline), in);
        first = line();
        if (first == null) {
            throw CommandFailure.usage(String.join(", ", files) + (files.size() == 1 ? " has" : " have")
                    + " no record, so there is nothing to compare.");
        }
        rollups = Rollups.of(pipeline).all().stream().map(Rollup::name).toList();
        engine = EmbeddedEngine.open(folder, pipeline.unpublished(), Settings.defaults());
    }

    @Override
    public List<byte[]> next(int most) throws IOException {
        List<byte[]> some = new ArrayList<>();
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        while (some.size() < most) {
            byte[] record = first == null ? line() : first;
            first = null;
            if (record == null) {
                break;
            }
            some.add(record);
            all.write(record);
            all.write('\n');
        }
        if (!some.isEmpty()) {
            engine.append(SOURCE, records + 1, all.toByteArray(), all.size());
            records += RecordEnds.lines(all.toByteArray(), 0, all.size());
        }
        return some;
    }

    /// The next line that is not empty; `null` behind the last one.
    private byte @Nullable [] line() throws IOException {
        for (RecordLines.Line line = lines.next(); line != null; line = lines.next()) {
            byte[] data = line.data();
            if (data == null) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT, "A line has " + line.bytes() + " bytes, more than a record may have.");
            }
            if (data.length > 0) {
                return data;
            }
        }
        return null;
    }

    @Override
    public SequencedMap<String, Totals> right() {
        SequencedMap<String, Totals> right = new LinkedHashMap<>();
        for (String rollup : rollups) {
            right.put(rollup, engine.query(Query.all(rollup), Totals::of));
        }
        return right;
    }

    @Override
    public void close() {
        try (EmbeddedEngine _ = engine) {
            in.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
