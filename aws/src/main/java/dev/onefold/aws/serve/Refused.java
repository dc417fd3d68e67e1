package dev.onefold.aws.serve;

import dev.onefold.api.Failure;
import dev.onefold.api.Response;
import java.util.Map;

/// Why nothing was done, or not all. Never leaves this package.
final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient Failure failure;
    private final transient Map<String, Object> more;

    Refused(Failure failure) {
        this(failure, Map.of());
    }

    /// @param more members of the answer
    Refused(Failure failure, Map<String, Object> more) {
        super(failure.detail());
        this.failure = failure;
        this.more = more;
    }

    Refused(int status, String kind, String detail) {
        this(new Failure(status, kind, detail));
    }

    Response response() {
        return failure.response(more);
    }
}
