package dev.onefold.api;

import dev.onefold.core.Engine;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.SealedBatches.Line;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.form.EngineJson;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/// The routes below `batches`.
final class BatchRoutes {
    static final String NAME = "batches";
    private static final int LIST_MAX = 1_000;

    private final Engine engine;

    BatchRoutes(Engine engine) {
        this.engine = engine;
    }

    /// @param path behind `batches`
    Optional<Response> get(Request request, List<String> path) {
        SealedBatches batches = engine.batches();
        if (path.isEmpty()) {
            request.allow();
            return Optional.of(Response.json(EngineJson.BATCHES.write(batches.summary())));
        }
        if (path.size() == 1 && path.getFirst().equals("list")) {
            request.allow("from", "limit", "open");
            String from = request.parameter("from");
            int limit = request.integer("limit", LIST_MAX);
            if (limit < 1 || limit > LIST_MAX) {
                throw new IllegalArgumentException("The parameter 'limit' is 1 to " + LIST_MAX + ", not " + limit);
            }
            List<Line> lines = batches.list(number(from == null ? "1" : from), limit, request.flag("open"));
            return Optional.of(Response.json(Map.of(
                    "batches", lines.stream().map(EngineJson.BATCH::write).toList())));
        }
        if (path.size() == 1) {
            request.allow();
            return Optional.of(Response.json(EngineJson.BATCH.write(line(batches, path.getFirst()))));
        }
        if (path.size() == 2 && path.get(1).equals("content")) {
            request.allow();
            BatchNumber number = line(batches, path.getFirst()).number();
            return Optional.of(new Response(
                    200,
                    Response.BYTES,
                    out -> batches.export(number, bytes -> {
                        try {
                            out.write(bytes);
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    })));
        }
        return Optional.empty();
    }

    /// @param path behind `batches`
    Optional<Response> post(Request request, List<String> path) {
        SealedBatches batches = engine.batches();
        if (path.size() == 1 && path.getFirst().equals("seal")) {
            request.allow();
            return Optional.of(Response.json(Map.of("sealed", batches.seal())));
        }
        if (path.size() == 2 && path.get(1).equals("release")) {
            request.allow();
            return Optional.of(decided(batches, path.getFirst(), batches::release));
        }
        if (path.size() == 2 && path.get(1).equals("settle")) {
            request.allow("how");
            Delivery.How how = switch (request.required("how")) {
                case "delivered" -> Delivery.How.SAID;
                case "discarded" -> Delivery.How.DISCARDED;
                case String other ->
                    throw new IllegalArgumentException(
                            "The parameter 'how' is delivered or discarded, not '" + other + "'");
            };
            return Optional.of(decided(batches, path.getFirst(), number -> batches.settle(number, how)));
        }
        return Optional.empty();
    }

    private static Response decided(SealedBatches batches, String text, Function<BatchNumber, Line> decision) {
        BatchNumber number = line(batches, text).number();
        try {
            return Response.json(EngineJson.BATCH.write(decision.apply(number)));
        } catch (IllegalArgumentException nothingToDecide) {
            throw new Request.Refused(new Failure(
                    409,
                    Failure.DECIDED,
                    "Batch " + number + " does not wait for this decision: it is "
                            + batches.find(number).map(Line::state).orElse("done") + ". Nothing was done."));
        }
    }

    private static BatchNumber number(String text) {
        return BatchNumber.read(text)
                .orElseThrow(() -> new IllegalArgumentException("'" + text + "' is not the number of a batch"));
    }

    private static Line line(SealedBatches batches, String text) {
        return batches.find(number(text))
                .orElseThrow(() -> new Request.Refused(
                        new Failure(404, Failure.NO_BATCH, "There is no batch " + text + " of which more is known.")));
    }
}
