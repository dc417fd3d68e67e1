package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.embedded.file.Decompression;
import dev.onefold.embedded.source.FileSource;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A file to be folded; compressed if its name says so.
///
/// @param path absolute, as it names the source
/// @param bytes its size on disk
/// @param read how many of these bytes are read
public record InputFile(Path path, long bytes, AtomicLong read) {
    private static final Pattern TOPIC = Pattern.compile("kafka://(?<servers>[^/]+)/(?<topic>[^/]+)/?");

    /// The file that a text on the command line means.
    public static InputFile of(Caller caller, String text) throws IOException {
        return of(caller, text, "");
    }

    /// The same.
    ///
    /// @param advice for what is no file
    static InputFile of(Caller caller, String text, String advice) throws IOException {
        Path path = file(caller, text, advice);
        if (!Decompression.isCompressed(path)) {
            requireText(path, caller.shown(path));
        }
        return new InputFile(path, Files.size(path), new AtomicLong());
    }

    /// The file of any bytes that a text on the command line means.
    public static Path ofBytes(Caller caller, String text) {
        return file(caller, text, "");
    }

    private static Path file(Caller caller, String text, String advice) {
        if (text.matches("https?://.*")) {
            throw CommandFailure.usage(text + " is an address, and files are read here. Fetch it first: curl --fail"
                    + " --location --output FILE '" + text + "'");
        }
        Matcher topic = TOPIC.matcher(text);
        if (topic.matches()) {
            throw CommandFailure.usage(text
                    + " is a topic, and the pipeline file names it: input: from: {kafka: {topic: "
                    + topic.group("topic") + ", servers: \"" + topic.group("servers") + "\"}}. Then 'onefold check FILE"
                    + " --connect' shows its records, and 'onefold run FILE' reads them.");
        }
        Path path = caller.path(text);
        if (!Files.exists(path)) {
            throw CommandFailure.usage("There is no input file " + caller.shown(path) + ".");
        }
        if (!Files.isRegularFile(path)) {
            throw CommandFailure.usage(caller.shown(path) + " is not a file that can be read again." + advice);
        }
        if (!Files.isReadable(path)) {
            throw new CommandFailure(ExitCode.DIFFERENT, "Input file " + caller.shown(path) + " may not be read.");
        }
        return path;
    }

    /// Compressed bytes, and UTF-16, are known by how they begin.
    private static void requireText(Path path, String shown) throws IOException {
        byte[] begin;
        try (InputStream in = Files.newInputStream(path)) {
            begin = in.readNBytes(Integer.BYTES);
        }
        String hex = HexFormat.of().formatHex(begin);
        String refusal = hex.startsWith("1f8b")
                ? "is compressed with gzip. Give it a name that ends in .gz"
                : hex.equals("28b52ffd")
                        ? "is compressed with Zstandard. Give it a name that ends in .zst"
                        : hex.equals("504b0304")
                                ? "is a zip archive. Unpack it"
                                : hex.startsWith("fffe") || hex.startsWith("feff")
                                        ? "is UTF-16. Convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW"
                                        : "";
        if (!refusal.isEmpty()) {
            throw new CommandFailure(ExitCode.DIFFERENT, "Input file " + shown + " " + refusal + ".");
        }
    }

    boolean isCompressed() {
        return Decompression.isCompressed(path);
    }

    /// Opens it at its first byte.
    public InputStream open() throws IOException {
        return Decompression.open(path, read);
    }

    /// As the engine takes it: a last line without its end is a record.
    ///
    /// @param separate whether it is known to be no copy of what was folded under another name
    FileSource source(boolean separate) {
        return new FileSource(path.toString(), this::open, false, separate);
    }
}
