package dev.onefold.cli.trial;

import dev.onefold.cli.aws.RecordLines;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.InputFile;
import dev.onefold.cli.verbs.Totals;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Query;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/// Lines of files. The embedded engine computes the right totals for them, in a folder of its own.
final class FileLoad implements Load {
    private static final String SOURCE = "trial";

    private final Deque<InputFile> files;
    private final EmbeddedEngine engine;
    private final List<String> rollups;
    private @Nullable InputStream in;
    private @Nullable RecordLines lines;
    private byte @Nullable [] first;
    private long records;

    /// @param folder that is empty
    /// @throws CommandFailure if there is no record
    FileLoad(Caller caller, Pipeline pipeline, List<String> files, Path folder) throws IOException {
        this.files = new ArrayDeque<>();
        for (String file : files) {
            this.files.add(InputFile.of(caller, file));
        }
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
            records += some.size();
        }
        return some;
    }

    /// The next line; `null` behind the last one of the last file.
    private byte @Nullable [] line() throws IOException {
        while (true) {
            RecordLines from = lines;
            if (from == null) {
                InputFile file = files.poll();
                if (file == null) {
                    return null;
                }
                in = file.open();
                from = new RecordLines(in);
                lines = from;
            }
            RecordLines.Line line = from.next();
            if (line == null) {
                closeFile();
            } else if (line.data() == null) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT, "A line has " + line.bytes() + " bytes, more than a record may have.");
            } else if (line.data().length > 0) {
                return line.data();
            }
        }
    }

    @Override
    public SequencedMap<String, Totals> right() {
        SequencedMap<String, Totals> right = new LinkedHashMap<>();
        for (String rollup : rollups) {
            right.put(rollup, engine.query(Query.all(rollup), Totals::of));
        }
        return right;
    }

    private void closeFile() throws IOException {
        lines = null;
        InputStream open = in;
        in = null;
        if (open != null) {
            open.close();
        }
    }

    @Override
    public void close() {
        try {
            closeFile();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        } finally {
            engine.close();
        }
    }
}
