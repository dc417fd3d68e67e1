package dev.onefold.embedded.directory;

import dev.onefold.embedded.checkpoint.Checkpoint;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.disk.FileHeader;
import dev.onefold.embedded.disk.FileNames;
import dev.onefold.embedded.guard.Space;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// The file `CURRENT` of a data directory, a line of text:
///
///     onefold FORMAT view-NUMBER IDENTITY journal-kept|journal-released CRC-32C of the text in front of it
///
/// @param number of the view that serves
/// @param identity of the data directory, random, given when it was made; all files of the directory bear it
/// @param journalKept whether the journal is kept for ever
public record Current(long number, long identity, boolean journalKept) {
    private static final int FORMAT = 2;
    private static final int CRC_CHARACTERS = 9; // With the line end.
    private static final Pattern FORMAT_OF_LINE = Pattern.compile("onefold ([0-9]{1,5}) .*", Pattern.DOTALL);
    private static final Pattern LINE = Pattern.compile(
            "onefold [0-9]+ view-([1-9][0-9]{0,17}) ([0-9a-f]{16}) journal-(kept|released) [0-9a-f]{8}\n");

    private static Path file(Path root) {
        return root.resolve("CURRENT");
    }

    /// Reads the file; `null` if there is none yet.
    public static @Nullable Current read(Path root) {
        Path file = file(root);
        if (!Disk.exists(file)) {
            requireNoData(root);
            return null;
        }
        String text = new String(Disk.readAll(file), StandardCharsets.US_ASCII);
        if (text.startsWith("view-")) { // As it was before files had numbers.
            throw FileHeader.otherFormat(file, 0, FORMAT);
        }
        String body = text.substring(0, Math.max(0, text.length() - CRC_CHARACTERS));
        if (!text.equals(sealed(body))) {
            throw Disk.corrupt(file, 0, "it does not name a view");
        }
        Matcher format = FORMAT_OF_LINE.matcher(body);
        if (format.matches() && Integer.parseInt(format.group(1)) != FORMAT) {
            throw FileHeader.otherFormat(file, Integer.parseInt(format.group(1)), FORMAT);
        }
        Matcher line = LINE.matcher(text);
        if (!line.matches()) {
            throw Disk.corrupt(file, 0, "it does not name a view");
        }
        return new Current(
                Long.parseLong(line.group(1)),
                HexFormat.fromHexDigitsToLong(line.group(2)),
                line.group(3).equals("kept"));
    }

    private static String sealed(String body) {
        CRC32C crc = new CRC32C();
        crc.update(body.getBytes(StandardCharsets.US_ASCII));
        return body + HexFormat.of().toHexDigits((int) crc.getValue()) + "\n";
    }

    /// A view that was begun when a crash came holds no record yet; one that does was named, and its name
    /// is gone.
    private static void requireNoData(Path root) {
        for (Path view : FileNames.list(root, FileNames::isView)) {
            Checkpoint checkpoint = Checkpoint.read(view);
            if (checkpoint != null && !checkpoint.sources().isEmpty()) {
                throw Disk.corrupt(file(root), 0, "the file is gone, but " + view + " holds data");
            }
        }
    }

    /// Writes the file, also when it can be read already: it may have been left by a process that was killed,
    /// or stopped, before it was on the disk; and files that it does not name are about to be deleted. From
    /// then on the directory has data, even if a reset has noted something else before.
    public void write(Path root, Space space) {
        String line = sealed("onefold " + FORMAT + " view-" + number + " "
                + HexFormat.of().toHexDigits(identity) + " journal-" + (journalKept ? "kept" : "released") + " ");
        ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.US_ASCII));
        space.change(() -> Disk.replace(file(root), bytes.duplicate()));
        Disk.delete(FileNames.reset(root));
    }
}
