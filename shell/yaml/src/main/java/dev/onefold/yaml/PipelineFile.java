package dev.onefold.yaml;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problem;
import dev.onefold.core.document.Problems;
import dev.onefold.core.document.TextPlace;
import dev.onefold.core.grammar.PipelineReader;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// A pipeline file as it was read: its text, as far as it is text, and the result of the reading.
public record PipelineFile(String text, Reading reading) {
    public static final int FILE_BYTES_MAX = 1024 * 1024;

    /// The pipeline of a file.
    ///
    /// @throws IllegalArgumentException with all its problems, each with its line and column
    /// @throws UncheckedIOException if the file cannot be read
    public static Pipeline pipeline(Path path) {
        PipelineFile file = load(path);
        return switch (file.reading) {
            case Reading.Read(Pipeline pipeline) -> pipeline;
            case Reading.Refused _ -> throw new IllegalArgumentException(file.problems(path.toString()));
        };
    }

    /// The pipeline of a file, or all its problems.
    ///
    /// @throws UncheckedIOException if the file cannot be read
    public static Reading read(Path path) {
        return load(path).reading();
    }

    /// A file with its text, so that problems can be shown in it.
    ///
    /// @throws UncheckedIOException if the file cannot be read
    public static PipelineFile load(Path path) {
        try (InputStream in = Files.newInputStream(path)) {
            return of(in.readNBytes(FILE_BYTES_MAX + 1));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /// A file of these bytes.
    static PipelineFile of(byte[] bytes) {
        if (bytes.length > FILE_BYTES_MAX) {
            return refused(
                    "", TextPlace.START, "is larger than " + FILE_BYTES_MAX + " bytes", "one file is one pipeline");
        }
        CharBuffer characters = CharBuffer.allocate(bytes.length);
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        CoderResult end = decoder.decode(ByteBuffer.wrap(bytes), characters, true);
        String decoded = characters.flip().toString();
        String text = decoded.startsWith("\ufeff") ? decoded.substring(1) : decoded;
        if (end.isError()) {
            return refused(text, SourceLines.of(text).end(), "holds a byte here that is not UTF-8", "save it as UTF-8");
        }
        Problems problems = new Problems();
        Node file = YamlNodes.read(text, problems);
        return new PipelineFile(
                text, file == null ? new Reading.Refused(problems.inOrder()) : PipelineReader.read(file));
    }

    private static PipelineFile refused(String text, TextPlace place, String wrong, String right) {
        return new PipelineFile(
                text, new Reading.Refused(List.of(new Problem(place, "", "", "The file " + wrong, right))));
    }

    /// All problems, each with its line of the file and a caret below, in at most 80 columns; empty if there are none.
    ///
    /// @param name the file's name as the user gave it; a longer one than a line is not broken
    public String problems(String name) {
        return problems(name, ProblemText.COLUMNS_MAX);
    }

    /// The same in at most `columns` columns; a line of the file is shown in at most 80.
    public String problems(String name, int columns) {
        return switch (reading) {
            case Reading.Read _ -> "";
            case Reading.Refused(List<Problem> problems) ->
                ProblemText.of(name, SourceLines.of(text), problems, columns);
        };
    }
}
