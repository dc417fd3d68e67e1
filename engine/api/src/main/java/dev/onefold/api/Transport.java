package dev.onefold.api;

import dev.onefold.core.EngineException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// Carries requests to an engine in another process, and says what a failure on the way means. Any thread may
/// call.
interface Transport extends AutoCloseable {
    /// A request.
    ///
    /// @param target path and query
    /// @param fields of the head, by name
    /// @param content `null` for none
    record Asked(String method, String target, Map<String, String> fields, byte @Nullable [] content) {}

    /// An answer, valid until its reader returns.
    ///
    /// @param field value of a field of the head, by its name in small letters; empty without the field
    record Answered(int status, UnaryOperator<String> field, InputStream content) {}

    /// Takes an answer.
    interface Reader<T> {
        T read(Answered answer) throws IOException;
    }

    /// The request certainly did not reach the engine.
    final class Unreached extends IOException {
        private static final long serialVersionUID = 1;

        Unreached(IOException cause) {
            super(cause.getMessage(), cause);
        }
    }

    /// Sends a request and reads its answer.
    ///
    /// @throws Unreached if the request was not sent
    /// @throws IOException if its answer did not come, or was cut off
    <T> T exchange(Asked asked, Reader<T> reader) throws IOException;

    /// The place of the engine, as a sentence names it.
    String place();

    /// The failure of a request whose answer did not come.
    EngineException unanswered(IOException cause, String outcome);

    /// The failure of a request for something that the other process does not offer.
    ///
    /// @param version of the other process; empty if it is not known
    EngineException notOffered(String version, String detail);

    /// The failure of a request that the caller may not send.
    EngineException notAllowed(int status, String detail);

    @Override
    void close();
}
