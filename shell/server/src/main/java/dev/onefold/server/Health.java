package dev.onefold.server;

import dev.onefold.api.Failure;
import dev.onefold.api.Response;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Whether the service is alive and ready, for its supervisor. It needs no token, so it names no pipeline.
/// Any thread may call.
final class Health {
    private final List<Served> pipelines;
    private volatile boolean isEnding;

    Health(List<Served> pipelines) {
        this.pipelines = List.copyOf(pipelines);
    }

    /// From now on the service is not ready.
    void end() {
        isEnding = true;
    }

    /// Alive unless an engine has stopped for good: then only a new start helps.
    Response live() {
        return pipelines.stream().allMatch(Health::works)
                ? well()
                : bad("An engine has stopped. Start the service again.");
    }

    /// Ready if every engine works, takes records, and reads its inputs.
    Response ready() {
        if (isEnding) {
            return bad("The service ends.");
        }
        if (!pipelines.stream().allMatch(Health::works)) {
            return bad("An engine has stopped. Start the service again.");
        }
        if (pipelines.stream().anyMatch(each -> each.refusal().get().isPresent())) {
            return bad("A pipeline takes no records now. The status of the pipelines says why.");
        }
        if (pipelines.stream().anyMatch(each -> !each.troubles().get().isEmpty())) {
            return bad("An input is not read any more. The log of the service says why.");
        }
        return well();
    }

    private static boolean works(Served pipeline) {
        try {
            pipeline.engine().pipeline(); // Throws once the engine has stopped.
            return true;
        } catch (RuntimeException stopped) {
            return false;
        }
    }

    /// All is well.
    static Response well() {
        return new Response(
                200, Response.JSON, out -> out.write("{\"status\":\"up\"}\n".getBytes(StandardCharsets.US_ASCII)));
    }

    private static Response bad(String detail) {
        return new Failure(503, Failure.NOT_READY, detail).response();
    }
}
