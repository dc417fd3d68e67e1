package dev.onefold.cli.letters;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.pipeline.Limits;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `onefold dead-letters PIPELINE import`: the way back of `export`.
@Command(
        name = "import",
        description = {
            "Redrives the letters of a file that 'export' wrote, as they are there: edit the text or the base64 of a record, and"
                    + " leave out the letters that are to stay.",
            "Each counts once, also when the file is imported again. A letter that has no record in the file is sent as it"
                    + " arrived. A letter whose number, place and hash in the file are not those of a letter that waits is not"
                    + " redriven. Exit code 1 when one was rejected again or not redriven; the first ones are named."
        },
        footerHeading = "%nExample:%n",
        footer = {
            "  ${PARENT-COMMAND-FULL-NAME} trade-risk.yaml export -o letters.ndjson",
            "  sed -i 's/\\(\"text\":.*\\)1,234/\\11234/' letters.ndjson",
            "  ${PARENT-COMMAND-FULL-NAME} trade-risk.yaml import letters.ndjson"
        })
final class ImportCommand implements Callable<Integer> {
    /// A record in base64 and as a text in which each character is escaped, and all that is known of it.
    private static final int LINE_BYTES_MAX = 8 * Limits.RECORD_BYTES_MAX;

    /// Letters of a file that are not there under their numbers, and are looked for under others.
    private static final int MISSING_MAX = 100_000;

    private static final int PAGE = 1_000;

    private final DeadLettersCommand all;

    /// A line of the file, and where it stands.
    private record Line(String where, Map<String, String> fields) {}

    /// The record of a letter, whatever number the letter has.
    private record Identity(String source, String offset, String sha256) {
        /// Empty if the file does not say it: a person may write a file of ids and records.
        static Optional<Identity> of(Map<String, String> said) {
            String source = said.get("source");
            String offset = said.get("offset");
            String sha256 = said.get("sha256");
            return source == null || offset == null || sha256 == null
                    ? Optional.empty()
                    : Optional.of(new Identity(source, offset, sha256));
        }

        static Identity of(DeadLetter letter) {
            return new Identity(
                    letter.place().source(), Long.toString(letter.place().offset()), letter.sha256());
        }
    }

    @Parameters(
            paramLabel = "FILE",
            description = "One JSON object a line, with id and text or base64; - is standard input.")
    private String file = "-";

    @Option(names = "--other-key", description = "Also takes a record that has another key than the letter's.")
    private boolean otherKey;

    ImportCommand(DeadLettersCommand all) {
        this.all = all;
    }

    @Override
    public Integer call() throws IOException {
        Caller caller = all.caller();
        Path path = file.equals("-") ? null : caller.path(file);
        if (path != null && (!Files.exists(path) || Files.isDirectory(path))) {
            throw CommandFailure.usage("There is no file " + caller.shown(path) + ".");
        }
        return all.use(letters -> {
            DeadLettersCommand.settle(letters); // Standard input can be read once.
            try (InputStream in = path == null ? InputStream.nullInputStream() : Files.newInputStream(path);
                    Outcomes outcomes = Outcomes.summary(letters, caller, path == null ? 0 : lines(path))) {
                InputStream lines = new BufferedInputStream(path == null ? caller.in() : in);
                Map<Identity, Long> missing = new HashMap<>();
                long number = 0;
                for (byte[] line = line(lines); line != null; line = line(lines)) {
                    number++;
                    if (line.length > 0) {
                        redrive(letters, outcomes, missing, new Line("line " + number, fields(line)));
                    }
                }
                explain(letters, outcomes, missing);
                return outcomes.end();
            }
        });
    }

    /// Lines of a file, each a letter; 0 of what is no plain file, which can be read once only.
    private static long lines(Path path) throws IOException {
        if (!Files.isRegularFile(path)) {
            return 0;
        }
        byte[] bytes = new byte[1 << 16];
        long lines = 0;
        try (InputStream in = Files.newInputStream(path)) {
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                for (int i = 0; i < read; i++) {
                    lines += bytes[i] == '\n' ? 1 : 0;
                }
            }
        }
        return lines;
    }

    private static byte @Nullable [] line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int c = in.read();
        if (c < 0) {
            return null;
        }
        for (; c >= 0 && c != '\n'; c = in.read()) {
            if (line.size() == LINE_BYTES_MAX) {
                throw new CommandFailure(ExitCode.DIFFERENT, "A line of the file is longer than any letter can be.");
            }
            line.write(c);
        }
        return line.toByteArray();
    }

    private void redrive(DeadLetters letters, Outcomes outcomes, Map<Identity, Long> missing, Line line) {
        Map<String, String> said = line.fields;
        long id;
        try {
            id = Long.parseLong(said.getOrDefault("id", ""));
        } catch (NumberFormatException _) {
            outcomes.refuse(line.where, "it is not a JSON object with the number of a letter as id");
            return;
        }
        List<DeadLetter> found = letters.list(id - 1, 1);
        boolean isThere = !found.isEmpty() && found.getFirst().id() == id;
        Optional<Identity> identity = Identity.of(said);
        if (!isThere && identity.isPresent() && missing.size() < MISSING_MAX) {
            missing.put(identity.get(), id);
            return;
        }
        if (isThere && identity.isPresent() && !identity.get().equals(Identity.of(found.getFirst()))) {
            outcomes.refuse(
                    "letter " + id,
                    "the file holds another record under this number (" + line.where
                            + "): it was exported before the letters got new numbers, or from other data. Export again.");
            return;
        }
        byte[] record;
        try {
            boolean hasContent = isThere && found.getFirst().kept();
            record = isThere ? edited(said, hasContent ? letters.record(id) : null) : null;
        } catch (IllegalArgumentException e) {
            outcomes.refuse("letter " + id, e.getMessage() + " (" + line.where + ")");
            return;
        }
        outcomes.redrive(id, record, otherKey ? DeadLetters.Keys.ANY : DeadLetters.Keys.SAME);
    }

    /// Letters that are not there under their numbers were redriven, or have other numbers now, because their
    /// source was read again.
    private static void explain(DeadLetters letters, Outcomes outcomes, Map<Identity, Long> missing)
            throws IOException {
        for (List<DeadLetter> page = missing.isEmpty() ? List.of() : letters.list(0, PAGE);
                !page.isEmpty();
                page = letters.list(page.getLast().id(), PAGE)) {
            for (DeadLetter letter : page) {
                Long id = missing.remove(Identity.of(letter));
                if (id != null) {
                    outcomes.refuse("letter " + id, "it is letter " + letter.id() + " now. Export again.");
                }
            }
        }
        missing.values().stream().sorted().forEach(id -> outcomes.redrive(id, null, DeadLetters.Keys.SAME));
    }

    private static Map<String, String> fields(byte[] line) {
        Map<String, String> said = new HashMap<>();
        Node node = JsonText.read(new String(line, StandardCharsets.UTF_8), new Problems());
        if (node instanceof Node.Mapping mapping) {
            for (Node.Entry entry : mapping.entries()) {
                if (entry.value() instanceof Node.Scalar scalar && !scalar.isNull()) {
                    said.put(entry.name().text(), scalar.text());
                }
            }
        }
        return said;
    }

    /// The record that is said, if it is not the letter's own. `export` says it twice, and one of the two is
    /// edited.
    private static byte @Nullable [] edited(Map<String, String> said, byte @Nullable [] original) {
        String text = said.get("text");
        String base64 = said.get("base64");
        byte[] fromText = text == null ? null : withoutEnd(text.getBytes(StandardCharsets.UTF_8));
        byte[] fromBase64 = base64 == null ? null : Base64.getDecoder().decode(base64);
        boolean textIsEdit = fromText != null && !Arrays.equals(fromText, original);
        boolean base64IsEdit = fromBase64 != null && !Arrays.equals(fromBase64, original);
        if (textIsEdit && base64IsEdit && !Arrays.equals(fromText, fromBase64)) {
            throw new IllegalArgumentException("Text and base64 of the record are edited, and differ; leave one out");
        }
        return textIsEdit ? fromText : base64IsEdit ? fromBase64 : null;
    }

    private static byte[] withoutEnd(byte[] text) {
        int length = text.length;
        return length > 0 && text[length - 1] == '\n' ? Arrays.copyOf(text, length - 1) : text;
    }
}
