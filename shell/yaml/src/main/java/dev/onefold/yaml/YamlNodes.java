package dev.onefold.yaml;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problem;
import dev.onefold.core.document.Problems;
import dev.onefold.core.document.TextPlace;
import dev.onefold.core.json.JsonText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/// YAML as nodes with places. It reads the parser's events itself and builds no objects: so nesting, aliases and
/// tags are bounded here, and nothing in a file can name a class. Not thread-safe.
final class YamlNodes {
    /// Nodes and characters of a document with all its aliases written out; a file within its size comes nowhere near
    /// without many of them.
    private static final int WEIGHT_MAX = 4 * PipelineFile.FILE_BYTES_MAX;

    private record Anchored(Node node, int weight) {}

    private final String text;
    private final int[] source;
    private Iterator<Event> events = Collections.emptyIterator();
    private final Map<String, Anchored> anchors = new HashMap<>();
    private int weight;
    private int depth;

    private YamlNodes(String text) {
        this.text = text;
        source = text.codePoints().toArray();
    }

    /// The one document of a text; `null` if the text is not one, and then the problem is noted.
    static @Nullable Node read(String text, Problems problems) {
        YamlNodes yaml = new YamlNodes(text);
        try {
            return yaml.document();
        } catch (Broken broken) {
            problems.add(broken.problem);
        } catch (MarkedYamlEngineException broken) {
            TextPlace place = broken.getProblemMark().map(YamlNodes::place).orElse(TextPlace.START);
            String what = Optional.ofNullable(broken.getProblem()).orElse("it cannot be read");
            problems.add(place, "", "", "This is no YAML: " + what, advice(what));
        } catch (ReaderException broken) {
            String sign = Character.toString(broken.getCodePoint());
            problems.add(yaml.placeOf(broken), "", sign, "is a character that YAML does not allow", "leave it out");
        } catch (YamlEngineException broken) {
            String what = Optional.ofNullable(broken.getMessage()).orElse("it cannot be read");
            problems.add(TextPlace.START, "", "", "This is no YAML: " + what, advice(what));
        }
        return null;
    }

    /// The advice that most likely helps, by the message of the parser.
    private static String advice(String problem) {
        if (problem.contains("TAB")) {
            return "indent with spaces";
        }
        if (problem.contains("cannot start any token") || problem.contains("mapping values are not allowed")) {
            return "put a text that holds ': ' or begins with a sign in quotes, and indent what belongs together alike";
        }
        if (problem.contains("end of stream") || problem.contains("stream end")) {
            return "close every quote, [ and {";
        }
        return "indent what belongs together alike, and put a text with signs in quotes";
    }

    /// Ends the walk; never leaves [#read].
    private static final class Broken extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final transient Problem problem;

        Broken(Problem problem) {
            super(problem.toString(), null, false, false);
            this.problem = problem;
        }
    }

    private Node document() {
        LoadSettings settings = LoadSettings.builder()
                .setCodePointLimit(PipelineFile.FILE_BYTES_MAX)
                .setBufferSize(
                        text.length() + 2) // Its reader fails on a surrogate pair across two fillings of the buffer.
                .build();
        events = new Parse(settings).parseString(text).iterator();
        Event first = next();
        while (first.getEventId() == Event.ID.StreamStart || first.getEventId() == Event.ID.DocumentStart) {
            first = next();
        }
        if (first.getEventId() == Event.ID.StreamEnd) {
            throw broken(first, "The file is empty", "write a pipeline, as docs/pipelines.md shows");
        }
        Node node = node(first);
        Event last = next();
        while (last.getEventId() == Event.ID.DocumentEnd) {
            last = next();
        }
        if (last.getEventId() != Event.ID.StreamEnd) {
            throw broken(last, "A second document begins here", "one file is one pipeline");
        }
        return node;
    }

    private Node node(Event event) {
        int weightBefore = weight;
        Node node = switch (event) {
            case AliasEvent alias -> aliased(alias);
            case ScalarEvent scalar -> scalar(scalar);
            case CollectionStartEvent start -> collection(start);
            default -> throw broken(event, "Something else than a value stands here", "write a value");
        };
        if (event instanceof NodeEvent named && !(event instanceof AliasEvent)) {
            named.getAnchor()
                    .ifPresent(anchor -> anchors.put(anchor.getValue(), new Anchored(node, weight - weightBefore)));
        }
        return node;
    }

    private Node aliased(AliasEvent alias) {
        String name = alias.getAlias().getValue();
        Anchored anchored = anchors.get(name);
        if (anchored == null) {
            throw broken(
                    alias,
                    "The alias *" + name + " stands for nothing",
                    "mark what it stands for with &" + name + " before it");
        }
        weigh(anchored.weight(), alias);
        return anchored.node();
    }

    private Node scalar(ScalarEvent scalar) {
        refuseTag(scalar.getTag(), scalar);
        weigh(1 + scalar.getValue().length(), scalar);
        return new Node.Scalar(
                scalar.getValue(),
                scalar.getScalarStyle() != ScalarStyle.PLAIN,
                place(scalar),
                ScalarRuns.of(source, scalar));
    }

    private Node collection(CollectionStartEvent start) {
        refuseTag(start.getTag(), start);
        weigh(1, start);
        if (depth == JsonText.NESTING_MAX) {
            throw broken(start, "This is nested too deep", "at most " + JsonText.NESTING_MAX + " levels are possible");
        }
        depth++;
        Node node = start instanceof SequenceStartEvent
                ? new Node.Sequence(items(), place(start))
                : new Node.Mapping(entries(), place(start));
        depth--;
        return node;
    }

    private List<Node> items() {
        List<Node> items = new ArrayList<>();
        for (Event event = next(); event.getEventId() != Event.ID.SequenceEnd; event = next()) {
            items.add(node(event));
        }
        return items;
    }

    private List<Node.Entry> entries() {
        List<Node.Entry> entries = new ArrayList<>();
        for (Event event = next(); event.getEventId() != Event.ID.MappingEnd; event = next()) {
            if (!(node(event) instanceof Node.Scalar name)) {
                throw broken(
                        event, "A list or map is unexpected, expected a name", "write a name, a colon and the value");
            }
            entries.add(new Node.Entry(name, node(next())));
        }
        return entries;
    }

    private Event next() {
        return events.next();
    }

    private void weigh(int more, Event event) {
        weight += more; // At most twice the limit: neither part is above it.
        if (weight > WEIGHT_MAX) {
            throw broken(event, "Aliases make the file too large", "write out what differs, and alias less");
        }
    }

    private static void refuseTag(Optional<String> tag, Event event) {
        if (tag.isPresent()) {
            throw broken(
                    event,
                    "A pipeline file has no tags like " + tag.get(),
                    "write the value alone; a text may be in quotes");
        }
    }

    private static Broken broken(Event event, String wrong, String right) {
        return new Broken(new Problem(place(event), "", "", wrong, right));
    }

    private static TextPlace place(Event event) {
        return event.getStartMark().map(YamlNodes::place).orElse(TextPlace.START);
    }

    private static TextPlace place(Mark mark) {
        return new TextPlace(mark.getLine() + 1, mark.getColumn() + 1);
    }

    private TextPlace placeOf(ReaderException broken) {
        int at = text.indexOf(broken.getCodePoint());
        return at < 0 ? TextPlace.START : SourceLines.of(text.substring(0, at)).end();
    }
}
