package dev.onefold.core.codec;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.bytes.ValueBytes;
import dev.onefold.core.pipeline.Type.Scalar;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/// One value: as an object here, and without one where it is a component of a primitive type ([Part]).
record ScalarForm(Place place, Scalar type) implements Form {
    @Override
    public void write(BytesOut out, Object value) {
        switch (type) {
            case BOOLEAN -> out.octet((Boolean) value ? ValueBytes.TRUE : ValueBytes.FALSE);
            case INT -> out.octet(ValueBytes.INT).signed((Integer) value);
            case LONG -> out.octet(ValueBytes.LONG).signed((Long) value);
            case DECIMAL -> decimal(out, (BigDecimal) value);
            case TEXT -> text(out, (String) value);
            case TIME -> {
                Instant time = (Instant) value;
                ValueBytes.seconds(out, ValueBytes.TIME, time.getEpochSecond(), time.getNano());
            }
            case DATE -> out.octet(ValueBytes.DATE).signed(((LocalDate) value).toEpochDay());
            case DURATION -> {
                Duration duration = (Duration) value;
                ValueBytes.seconds(out, ValueBytes.DURATION, duration.getSeconds(), duration.getNano());
            }
        }
    }

    private void decimal(BytesOut out, BigDecimal number) {
        try {
            ValueBytes.decimal(out, number);
        } catch (IllegalArgumentException tooManyDigits) {
            throw place.refused(String.valueOf(tooManyDigits.getMessage()), tooManyDigits);
        }
    }

    private void text(BytesOut out, String text) {
        try {
            out.octet(ValueBytes.TEXT).text(text);
        } catch (IllegalArgumentException brokenText) {
            throw place.refused("is not Unicode text: it holds half of a surrogate pair", brokenText);
        }
    }

    @Override
    public Object read(int tag, BytesIn in, @Nullable Object defaults) {
        return switch (type) {
            case BOOLEAN -> flag(tag);
            case INT -> (int) whole(tag, in);
            case LONG -> whole(tag, in);
            case DECIMAL -> decimal(tag, in);
            case TEXT -> expect(ValueBytes.TEXT, tag, in).text();
            case TIME -> ValueBytes.time(expect(ValueBytes.TIME, tag, in));
            case DATE -> ValueBytes.date(expect(ValueBytes.DATE, tag, in));
            case DURATION -> ValueBytes.duration(expect(ValueBytes.DURATION, tag, in));
        };
    }

    private BytesIn expect(int wanted, int tag, BytesIn in) {
        if (tag != wanted) {
            throw misfit(tag);
        }
        return in;
    }

    boolean flag(int tag) {
        if (tag != ValueBytes.TRUE && tag != ValueBytes.FALSE) {
            throw misfit(tag);
        }
        return tag == ValueBytes.TRUE;
    }

    long whole(int tag, BytesIn in) {
        if (tag == ValueBytes.INT) {
            return ValueBytes.whole(in);
        }
        if (tag == ValueBytes.LONG && type == Scalar.LONG) {
            return in.signed();
        }
        throw misfit(tag);
    }

    private BigDecimal decimal(int tag, BytesIn in) {
        return switch (tag) {
            case ValueBytes.INT, ValueBytes.LONG -> BigDecimal.valueOf(in.signed());
            case ValueBytes.DECIMAL -> ValueBytes.decimal(in);
            default -> throw misfit(tag);
        };
    }
}
