package dev.onefold.kafka.format;

import dev.onefold.kafka.format.AvroType.Plain;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.UUID;

/// Writes a value of Avro's binary form as JSON. Not thread-safe.
record AvroValue(Cursor in, JsonOut out) {
    private static final int UNSCALED_BYTES_MAX = 512;
    private static final int UUID_BYTES = 16;
    private static final long DAY_NANOS = 24 * 3600 * 1_000_000_000L;
    private static final DateTimeFormatter TO_MILLIS = DateTimeFormatter.ofPattern("HH:mm:ss.SSS");
    private static final DateTimeFormatter TO_MICROS = DateTimeFormatter.ofPattern("HH:mm:ss.SSSSSS");

    void write(AvroType type) throws Undecodable {
        switch (type) {
            case Plain plain -> plain(plain);
            case AvroType.Row row -> {
                out.open("{");
                for (AvroType.Field field : row.fields()) {
                    out.name(field.name());
                    write(field.type());
                }
                out.close("}");
            }
            case AvroType.Symbols symbols ->
                out.text(symbols.names()
                        .get(in.index(in.signed(), symbols.names().size())));
            case AvroType.Fixed fixed -> out.bytes(in.part(fixed.size()).take());
            case AvroType.Items items -> {
                out.open("[");
                blocks(items.of(), false);
                out.close("]");
            }
            case AvroType.Entries entries -> {
                out.open("{");
                blocks(entries.of(), true);
                out.close("}");
            }
            case AvroType.Union union ->
                write(union.branches()
                        .get(in.index(in.signed(), union.branches().size())));
            case AvroType.Decimal decimal -> decimal(decimal);
            case AvroType.Uuid _ -> {
                Cursor bytes = in.part(UUID_BYTES);
                out.text(new UUID(Long.reverseBytes(bytes.fixed(8)), Long.reverseBytes(bytes.fixed(8))).toString());
            }
            case AvroType.Logical logical -> logical(logical);
        }
    }

    private void blocks(AvroType of, boolean hasNames) throws Undecodable {
        for (long count = in.signed(); count != 0; count = in.signed()) {
            if (count < 0) {
                long _ = in.signed(); // The bytes of the block.
            }
            for (long i = Math.abs(count); i != 0; i--) { // Each writes something, so this ends.
                JsonOut _ = hasNames ? out.name(in.part(in.signed()).text()) : out.next();
                write(of);
            }
        }
    }

    private void plain(Plain type) throws Undecodable {
        switch (type) {
            case NULL -> out.raw("null");
            case BOOLEAN -> out.raw(String.valueOf(in.index(in.next(), 2) == 1));
            case INT, LONG -> out.raw(Long.toString(whole(type)));
            case FLOAT -> out.fraction(Float.intBitsToFloat((int) in.fixed(4)), true);
            case DOUBLE -> out.fraction(Double.longBitsToDouble(in.fixed(8)), false);
            case BYTES -> out.bytes(in.part(in.signed()).take());
            case STRING -> out.text(in.part(in.signed()).text());
        }
    }

    private long whole(Plain type) throws Undecodable {
        long value = in.signed();
        if (type == Plain.INT && value != (int) value) {
            throw new Undecodable(value + " is no int");
        }
        return value;
    }

    private void decimal(AvroType.Decimal decimal) throws Undecodable {
        Cursor unscaled = in.part(decimal.base() instanceof AvroType.Fixed fixed ? fixed.size() : in.signed());
        if (unscaled.remaining() == 0 || unscaled.remaining() > UNSCALED_BYTES_MAX) {
            throw new Undecodable("a decimal has " + unscaled.remaining() + " bytes");
        }
        out.raw(new BigDecimal(new BigInteger(unscaled.take()), decimal.scale()).toPlainString());
    }

    private void logical(AvroType.Logical logical) throws Undecodable {
        long value = whole(logical.base());
        int digits = logical.digits();
        switch (logical.meaning()) {
            case DATE -> out.text(LocalDate.ofEpochDay(value).toString());
            case TIME -> {
                long unit = digits == 3 ? 1_000_000 : 1_000;
                if (value < 0 || value >= DAY_NANOS / unit) {
                    throw new Undecodable(value + " is no time of a day");
                }
                out.text(LocalTime.ofNanoOfDay(value * unit).format(digits == 3 ? TO_MILLIS : TO_MICROS));
            }
            case TIMESTAMP -> out.text(JsonOut.instant(value, digits));
            case LOCAL_TIMESTAMP -> {
                String instant = JsonOut.instant(value, digits);
                out.text(instant.substring(0, instant.length() - 1));
            }
        }
    }
}
