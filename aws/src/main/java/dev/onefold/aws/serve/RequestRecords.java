package dev.onefold.aws.serve;

import dev.onefold.api.Failure;
import dev.onefold.api.Request;
import dev.onefold.api.Response;
import dev.onefold.api.body.BodyLines;
import dev.onefold.api.body.ContentFormat;
import dev.onefold.api.body.Gzip;
import dev.onefold.aws.event.UrlRequest;
import dev.onefold.core.bytes.Utf8;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Pipeline;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// The records of a request: into the stream or queue, and nothing is answered before that has them.
final class RequestRecords {
    private static final System.Logger LOG = System.getLogger("dev.onefold.api");
    private static final int BODY_BYTES_MAX = 16 << 20;
    private static final int PIECE_BYTES = 64 << 10;

    /// So many ranges of lines are named.
    private static final int RANGES_MAX = 1_000;

    /// The most lines in a request: the heap of the smallest function must hold the state of each of them.
    static final int LINES_MAX = 1_000_000;

    /// They are taken, and not yet in the totals.
    private static final int ACCEPTED = 202;

    private final Pipeline pipeline;
    private final Intake intake;

    RequestRecords(Pipeline pipeline, Intake intake) {
        this.pipeline = pipeline;
        this.intake = intake;
    }

    /// @param most how long that may take
    Response take(UrlRequest asked, Request request, Duration most) {
        requireNoPlace(asked, request);
        String type = asked.header("Content-Type").orElse("");
        ContentFormat.refusal(type, pipeline).ifPresent(detail -> {
            throw new Refused(415, Failure.REQUEST, detail);
        });
        byte[] content = decoded(asked);
        if (Utf8.decode(content).isEmpty()) {
            throw bad("The records are not UTF-8 text. Nothing was put.");
        }
        BodyLines lines = new BodyLines(RecordEnds.ofSource(pipeline), lines(type, content));
        if (lines.size() > LINES_MAX) {
            throw new Refused(
                    413,
                    Failure.REQUEST,
                    "The content of the request has more than " + LINES_MAX
                            + " lines. Nothing was put. Send it in several requests.");
        }
        return answer(intake.put(pipeline, lines, most));
    }

    private byte[] lines(String type, byte[] content) {
        try {
            return ContentFormat.lines(type, pipeline, content).orElse(content);
        } catch (IllegalArgumentException e) {
            throw bad(String.valueOf(e.getMessage()));
        }
    }

    private static Refused bad(String detail) {
        return new Refused(400, Failure.REQUEST, detail);
    }

    private void requireNoPlace(UrlRequest asked, Request request) {
        if (asked.header("Idempotency-Key").isPresent()) {
            throw bad("A function remembers no idempotency keys. Each record has an identity of its own here: send the"
                    + " request again without a key, and each record counts once.");
        }
        for (String name : request.parameters().keySet()) {
            throw bad(
                    List.of("source", "from").contains(name)
                            ? "The parameter '" + name + "' says the place of a line, and here the " + intake.noun()
                                    + " gives places." + " Each record has an identity of its own: send it without."
                            : "There is no parameter '" + name + "' here");
        }
    }

    private static byte[] decoded(UrlRequest asked) {
        String coding = asked.header("Content-Encoding").orElse("").strip().toLowerCase(Locale.ROOT);
        return switch (coding) {
            case "", "identity" -> asked.body();
            case "gzip", "x-gzip" -> unzipped(asked.body());
            default ->
                throw new Refused(
                        415,
                        Failure.REQUEST,
                        "The content has an encoding that is not known here. It is gzip or none.");
        };
    }

    private static byte[] unzipped(byte[] sent) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] piece = new byte[PIECE_BYTES];
        try (InputStream in = new Gzip(sent)) {
            for (int read = in.read(piece); read >= 0; read = in.read(piece)) {
                bytes.write(piece, 0, read);
                if (bytes.size() > BODY_BYTES_MAX) {
                    throw new Refused(
                            413,
                            Failure.REQUEST,
                            "The content of the request is more than " + BODY_BYTES_MAX
                                    + " bytes. Send it in several requests.");
                }
            }
        } catch (IOException e) {
            throw bad("The content is not gzip: it cannot be decompressed.");
        }
        return bytes.toByteArray();
    }

    private Response answer(Intake.Outcome outcome) {
        if (outcome.notPut().isEmpty() && outcome.refused().isEmpty()) {
            return new Response(
                    ACCEPTED,
                    Response.JSON,
                    Response.json(Map.of("put", outcome.put())).body());
        }
        List<List<Long>> refused = ranges(outcome.refused());
        Map<String, Object> more = new LinkedHashMap<>();
        more.put("put", outcome.put());
        more.put("notPut", fewer(ranges(outcome.notPut())));
        more.put("refused", refused.subList(0, Math.min(refused.size(), RANGES_MAX)));
        String unnamed = refused.size() <= RANGES_MAX
                ? ""
                : " 'refused' has the first " + RANGES_MAX + " runs; it is "
                        + outcome.refused().size() + " lines in all.";
        if (outcome.notPut().isEmpty()) {
            throw new Refused(
                    new Failure(
                            422,
                            Failure.NOT_PUT,
                            "The " + intake.noun() + " never takes some of the lines: " + intake.refuses()
                                    + ". 'refused' has their numbers, from 1. All others are in." + unnamed),
                    more);
        }
        LOG.log(System.Logger.Level.WARNING, "Records of a request are not put: " + outcome.failure());
        throw new Refused(
                new Failure(
                        503,
                        Failure.NOT_PUT,
                        "Not all lines are known to be in the " + intake.noun()
                                + ": 'notPut' has the numbers of the others, from 1. Send those again, or all: each record"
                                + " counts once by its identity." + unnamed),
                more);
    }

    /// First and last numbers of lines that follow each other.
    private static List<List<Long>> ranges(Collection<Long> numbers) {
        List<List<Long>> ranges = new ArrayList<>();
        for (long number : numbers) {
            List<Long> last = ranges.isEmpty() ? List.of() : ranges.getLast();
            if (!last.isEmpty() && last.get(1) + 1 == number) {
                ranges.set(ranges.size() - 1, List.of(last.get(0), number));
            } else {
                ranges.add(List.of(number, number));
            }
        }
        return ranges;
    }

    /// As many as are named. The last one is made longer, because a line that is sent again counts once, and
    /// one that is not is lost.
    private static List<List<Long>> fewer(List<List<Long>> ranges) {
        if (ranges.size() <= RANGES_MAX) {
            return ranges;
        }
        List<List<Long>> fewer = new ArrayList<>(ranges.subList(0, RANGES_MAX - 1));
        fewer.add(
                List.of(ranges.get(RANGES_MAX - 1).getFirst(), ranges.getLast().getLast()));
        return fewer;
    }
}
