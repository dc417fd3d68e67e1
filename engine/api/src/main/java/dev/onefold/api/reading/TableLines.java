package dev.onefold.api.reading;

import dev.onefold.core.document.Node;
import dev.onefold.core.form.JsonForm;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.shape.Value;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;

/// The rows of tables that came as JSON with the bytes of each row. They are kept off the heap, and each is
/// decoded when it is looked at. Not thread-safe.
public final class TableLines implements AutoCloseable {
    private final OffHeapLines lines = new OffHeapLines();

    /// Reads an answer that [JsonForm] wrote, each row on a line of its own. Its rows are valid until this is
    /// closed.
    public TableAnswer read(InputStream json) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(json, StandardCharsets.UTF_8));
        List<TableAnswer.Table> tables = new ArrayList<>();
        AnswerLines.next(in);
        String line = AnswerLines.next(in);
        for (; !line.startsWith("\"cut\":"); line = AnswerLines.next(in)) {
            Node table = JsonReader.parse(line + "]}");
            int from = lines.count();
            for (String row = AnswerLines.next(in); row.startsWith("\""); row = AnswerLines.next(in)) {
                lines.add(Base64.getDecoder().decode(row.substring(1, row.lastIndexOf('"'))));
            }
            tables.add(new TableAnswer.Table(
                    table.get("table").text(), table.get("columns").texts(), new Rows(from, lines.count() - from)));
        }
        Node cut = JsonReader.parse("{" + line);
        if (in.read() >= 0) { // Also the end of the content is looked at: an answer may be cut off.
            throw new IOException("More than an answer came");
        }
        return new TableAnswer(tables, JsonForm.CUT.read(cut.get("cut")));
    }

    /// The text of a row in an answer.
    public static String text(Value.Fields row) {
        return Base64.getEncoder().encodeToString(row.toBytes());
    }

    private final class Rows extends AbstractList<Value.Fields> implements RandomAccess {
        private final int from;
        private final int count;

        Rows(int from, int count) {
            this.from = from;
            this.count = count;
        }

        @Override
        public Value.Fields get(int index) {
            return Value.read(lines.get(from + Objects.checkIndex(index, count)));
        }

        @Override
        public int size() {
            return count;
        }
    }

    @Override
    public void close() {
        lines.close();
    }
}
