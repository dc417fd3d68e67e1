package dev.onefold.core.state;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Contributions and amounts as bytes.
///
///     contribution = format 1, kind 1; if counted: tuples, amounts, each with their number before
///     amount       = 0; or 1, scale, unscaled value as two's complement; or 2, text as UTF-8
///     number       = LEB128; bytes and texts have their length before
public final class ContributionBytes {
    private static final int FORMAT = 1;
    private static final int NONE = 0;
    private static final int NUMBER = 1;
    private static final int TEXT = 2;

    private ContributionBytes() {}

    /// The bytes of a contribution.
    public static byte[] of(Contribution contribution) {
        BytesOut out = new BytesOut().octet(FORMAT).octet(contribution.kind().code());
        out.number(contribution.groups().size());
        contribution.groups().forEach(group -> out.bytes(group.bytes()));
        out.number(contribution.amounts().size());
        contribution.amounts().forEach(amount -> write(amount, out));
        return out.toBytes();
    }

    /// The contribution of these bytes.
    public static Contribution read(byte[] bytes) {
        BytesIn in = new BytesIn(bytes);
        in.requireFormat(FORMAT);
        Event.Kind kind = Event.Kind.of((byte) in.octet());
        List<Tuple> groups = new ArrayList<>();
        for (long count = in.number(); count > 0; count--) {
            groups.add(new Tuple(in.bytes()));
        }
        List<Amount> amounts = new ArrayList<>();
        for (long count = in.number(); count > 0; count--) {
            amounts.add(amount(in));
        }
        in.requireEnd();
        return new Contribution(kind, groups, amounts);
    }

    /// The bytes of an amount alone.
    public static byte[] of(Amount amount) {
        BytesOut out = new BytesOut().octet(FORMAT);
        write(amount, out);
        return out.toBytes();
    }

    /// The amount of these bytes.
    public static Amount amount(byte[] bytes) {
        BytesIn in = new BytesIn(bytes);
        in.requireFormat(FORMAT);
        Amount amount = amount(in);
        in.requireEnd();
        return amount;
    }

    /// Writes an amount.
    public static void write(Amount amount, BytesOut out) {
        switch (amount) {
            case Amount.None _ -> out.octet(NONE);
            case Amount.Number(var value) ->
                out.octet(NUMBER)
                        .number(value.scale())
                        .bytes(value.unscaledValue().toByteArray());
            case Amount.Text(var value) -> out.octet(TEXT).bytes(value.getBytes(StandardCharsets.UTF_8));
        }
    }

    /// Reads an amount.
    public static Amount amount(BytesIn in) {
        int kind = in.octet();
        return switch (kind) {
            case NONE -> new Amount.None();
            case NUMBER -> {
                int scale = (int) in.number();
                yield new Amount.Number(new BigDecimal(new BigInteger(in.bytes()), scale));
            }
            case TEXT -> new Amount.Text(new String(in.bytes(), StandardCharsets.UTF_8));
            default -> throw in.broken("there is no kind of amount " + kind);
        };
    }
}
