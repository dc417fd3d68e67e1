package dev.onefold.api.reading;

import dev.onefold.core.document.Node;
import dev.onefold.core.form.JsonForm;
import dev.onefold.core.query.Answer;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.AbstractList;
import java.util.RandomAccess;

/// The lines of an answer that came as JSON. They are kept off the heap, and each is parsed when it is read.
/// Not thread-safe.
public final class AnswerLines extends AbstractList<Answer.Line> implements RandomAccess, AutoCloseable {
    private final OffHeapLines lines = new OffHeapLines();

    /// Reads an answer that [JsonForm] wrote, each group on a line of its own. Its lines are valid until this
    /// is closed.
    public Answer read(InputStream json) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(json, StandardCharsets.UTF_8));
        String head = next(in);
        String line = next(in);
        for (; !line.startsWith("\"cut\":"); line = next(in)) {
            if (line.startsWith("{")) { // The separators of the list follow.
                lines.add(line.substring(0, line.lastIndexOf('}') + 1).getBytes(StandardCharsets.UTF_8));
            }
        }
        Node answer = JsonReader.parse(head + line);
        if (in.read() >= 0) { // Also the end of the content is looked at: an answer may be cut off.
            throw new IOException("More than an answer came");
        }
        return new Answer(
                answer.get("rollup").text(),
                answer.get("levels").texts(),
                answer.get("measures").texts(),
                this,
                JsonForm.CUT.read(answer.get("cut")));
    }

    static String next(BufferedReader in) throws IOException {
        String line = in.readLine();
        if (line == null) {
            throw new EOFException("The answer ended too early");
        }
        return line;
    }

    @Override
    public Answer.Line get(int index) {
        return JsonReader.line(new String(lines.get(index), StandardCharsets.UTF_8));
    }

    @Override
    public int size() {
        return lines.count();
    }

    @Override
    public void close() {
        lines.close();
    }
}
