package dev.onefold.api;

import dev.onefold.core.Engine;
import dev.onefold.core.form.CsvForm;
import dev.onefold.core.form.GroupPath;
import dev.onefold.core.form.JsonForm;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Query;
import dev.onefold.core.totals.Ranked;
import java.util.List;

/// The route `totals`.
final class TotalsRoute {
    private TotalsRoute() {}

    static void answer(Engine engine, Request request, Routes.Receiver receiver) {
        if (request.parameter("limit") != null) {
            ranked(engine, request, receiver);
            return;
        }
        request.allow(
                "rollup",
                "group",
                "group-json",
                "depth",
                "top",
                "by",
                "format",
                "neutralise-formulas",
                "at-least",
                "limit",
                "skip");
        if (request.parameter("skip") != null) {
            throw new IllegalArgumentException("'skip' goes with 'limit': how many groups are seen");
        }
        String by = request.parameter("by");
        int top = request.integer("top", 0);
        if ((request.parameter("top") == null) != (by == null)) {
            throw new IllegalArgumentException("'top' and 'by' go together: how many groups, and by which measure");
        }
        Pipeline pipeline = engine.pipeline();
        Query query = new Query(
                rollup(request, pipeline),
                group(request),
                request.integer("depth", Integer.MAX_VALUE),
                by == null ? null : new Query.Top(top, by));
        boolean csv = EngineRoutes.isCsv(request);
        boolean neutralise = request.flag("neutralise-formulas");
        AtLeast.of(request).ifPresent(least -> least.await(engine));
        engine.query(query, answer -> {
            Response.Body body = out -> {
                if (csv) {
                    CsvForm.write(answer, neutralise, EngineRoutes.text(out));
                } else {
                    JsonForm.write(pipeline.name(), answer, EngineRoutes.text(out));
                }
            };
            EngineRoutes.take(receiver, new Response(200, EngineRoutes.type(csv), body, () -> AnswerTag.of(answer)));
            return true;
        });
    }

    /// A group and a part of the level below it: for readers of trees with very many groups.
    private static void ranked(Engine engine, Request request, Routes.Receiver receiver) {
        request.allow("rollup", "group", "group-json", "by", "limit", "skip", "at-least");
        Ranked.Part part =
                new Ranked.Part(request.parameter("by"), request.integer("skip", 0), request.integer("limit", 0));
        Pipeline pipeline = engine.pipeline();
        AtLeast.of(request).ifPresent(least -> least.await(engine));
        engine.query(new Query(rollup(request, pipeline), group(request), 1, null), answer -> {
            Ranked ranked = Ranked.of(answer, part);
            EngineRoutes.take(
                    receiver,
                    new Response(
                            200,
                            Response.JSON,
                            out -> JsonForm.write(pipeline.name(), ranked, EngineRoutes.text(out)),
                            () -> AnswerTag.of(ranked)));
            return true;
        });
    }

    private static String rollup(Request request, Pipeline pipeline) {
        String rollup = request.parameter("rollup");
        if (rollup != null) {
            return rollup;
        }
        return Rollups.of(pipeline).all().stream()
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "Pipeline " + pipeline.name() + " has no totals: it makes batches, or tables of a function"))
                .name();
    }

    private static List<String> group(Request request) {
        String group = request.parameter("group");
        String json = request.parameter("group-json");
        if (group != null && json != null) {
            throw new IllegalArgumentException(
                    "The parameters 'group' and 'group-json' say the same; give one of them");
        }
        return json != null ? GroupPath.ofJson("group-json", json) : GroupPath.parse(group == null ? "" : group);
    }
}
