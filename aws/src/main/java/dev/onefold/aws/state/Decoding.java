package dev.onefold.aws.state;

import dev.onefold.aws.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Contribution;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Decodes records as all views of a definition read them. Owned by one thread at a time.
final class Decoding {
    private final Definition definition;
    private final Map<Integer, Decoder> decoders = new TreeMap<>();

    /// What a record is.
    sealed interface Decoded {
        record Good(Candidate candidate) implements Decoded {}

        record Bad(Malformed malformed, Arrival arrival) implements Decoded {}
    }

    Decoding(Definition definition) {
        this.definition = definition;
        definition.views().forEach(view -> decoders.put(view.number(), new Decoder(view.pipeline())));
    }

    /// A record that the served view refuses is a dead letter; to a view that is being filled it contributes nothing.
    Decoded decode(Arrival arrival) {
        byte[] record = Arrays.copyOf(arrival.data(), arrival.data().length + Decoder.PADDING);
        int length = length(arrival.data());
        Decoder served = decoder(definition.served());
        Malformed malformed = served.decode(record, 0, length);
        if (malformed != null) {
            return new Decoded.Bad(malformed, arrival);
        }
        Event event = served.event();
        boolean versioned = definition.servedView().pipeline().identity() instanceof Identity.Versioned;
        byte[] version = versioned ? Arrays.copyOfRange(event.data, event.versionFrom, event.versionTo) : new byte[0];
        byte[] key = Arrays.copyOfRange(event.data, event.keyFrom, event.keyTo);
        TreeMap<Integer, Contribution> views = new TreeMap<>();
        views.put(definition.served(), contribution(definition.servedView().pipeline(), event));
        for (Definition.View view : definition.views()) {
            if (view.number() != definition.served()) {
                Decoder decoder = decoder(view.number());
                Malformed refused = decoder.decode(record, 0, length);
                views.put(
                        view.number(),
                        refused == null
                                ? contribution(view.pipeline(), decoder.event())
                                : new Contribution(Event.Kind.FILTERED, List.of(), List.of()));
            }
        }
        return new Decoded.Good(new Candidate(key, version, definition.served(), views, arrival));
    }

    private Decoder decoder(int view) {
        return java.util.Objects.requireNonNull(decoders.get(view));
    }

    /// A record may be a line with its end.
    private static int length(byte[] data) {
        int length = data.length;
        if (length > 0 && data[length - 1] == '\n') {
            length--;
            if (length > 0 && data[length - 1] == '\r') {
                length--;
            }
        }
        return length;
    }

    private static Contribution contribution(Pipeline pipeline, Event event) {
        if (event.kind != Event.Kind.COUNTED) {
            return new Contribution(event.kind, List.of(), List.of());
        }
        List<Tuple> groups = new ArrayList<>();
        for (int rollup = 0; rollup < event.groupFrom.length; rollup++) {
            groups.add(new Tuple(Arrays.copyOfRange(event.data, event.groupFrom[rollup], event.groupTo[rollup])));
        }
        List<Amount> amounts = new ArrayList<>();
        List<Measure.Input> inputs = pipeline.inputs();
        for (int input = 0; input < inputs.size(); input++) {
            amounts.add(amount(inputs.get(input), event, input));
        }
        return new Contribution(event.kind, groups, amounts);
    }

    private static Amount amount(Measure.Input input, Event event, int index) {
        if (!event.present[index]) {
            return new Amount.None();
        }
        return switch (input) {
            case Measure.Input.Decimal decimal -> {
                BigDecimal number = event.number(index, decimal.type().scale());
                yield number == null ? new Amount.None() : new Amount.Number(number);
            }
            case Measure.Input.Text _ ->
                new Amount.Text(new String(
                        event.data,
                        event.textFrom[index],
                        event.textTo[index] - event.textFrom[index],
                        StandardCharsets.UTF_8));
        };
    }
}
