package dev.onefold.oracle.generate;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Writes values in the different ways that say the same.
final class Spelling {
    private static final List<Integer> OFFSET_MINUTES = List.of(0, 60, -300, 345, 840);

    private static final String CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";

    private final Chance chance;

    Spelling(Chance chance) {
        this.chance = chance;
    }

    /// A value as JSON; null when the field is not to be there.
    @Nullable
    String json(Value value, Field field) {
        return switch (value) {
            case Value.Text text -> looseText(text.text());
            case Value.Decimal decimal -> quotedOrNot(number(decimal.number()));
            case Value.Digits digits ->
                mustBeQuoted(digits.digits()) ? quoted(digits.digits()) : quotedOrNot(digits.digits());
            case Value.Time time ->
                field.form().startsWith("epoch")
                        ? epoch(time.instant(), field.form())
                        : quoted(text(time.instant(), field.form()));
            case Value.Flag flag ->
                chance.percent(80) ? String.valueOf(flag.flag()) : quoted(String.valueOf(flag.flag()));
            case Value.Null _ -> "null";
            case Value.Raw raw -> raw.json();
            case Value.Absent _ -> null;
        };
    }

    /// A value as it stands in a CSV line, before quotes; null when nothing is to stand there.
    @Nullable
    String csv(Value value, Field field) {
        return switch (value) {
            case Value.Text text -> text.text();
            case Value.Decimal decimal -> number(decimal.number());
            case Value.Digits digits -> digits.digits();
            case Value.Time time ->
                field.form().startsWith("epoch")
                        ? number(units(time.instant(), field.form()))
                        : text(time.instant(), field.form());
            case Value.Flag flag -> String.valueOf(flag.flag());
            case Value.Raw raw -> raw.json();
            case Value.Null _, Value.Absent _ -> null;
        };
    }

    /// A JSON string in quotes, some characters as escapes.
    String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.codePoints().forEach(point -> {
            String character = Character.toString(point);
            if (point < 0x20 || point == '"' || point == '\\' || chance.percent(4)) {
                character.chars().forEach(unit -> quoted.append(escaped((char) unit)));
            } else {
                quoted.append(character);
            }
        });
        return quoted.append('"').toString();
    }

    private String escaped(char c) {
        int index = "\"\\/\b\f\n\r\t".indexOf(c);
        return index >= 0 && chance.percent(60)
                ? "\\" + "\"\\/bfnrt".charAt(index)
                : "\\u" + (chance.percent(50) ? "%04x" : "%04X").formatted((int) c);
    }

    /// A text that looks like a number or a flag may be one: where a text is wanted it is the same.
    private String looseText(String text) {
        boolean canBeBare = text.matches("5|5\\.5|true|false");
        return canBeBare && chance.percent(50) ? text : quoted(text);
    }

    private String quotedOrNot(String number) {
        return chance.percent(75) ? number : quoted(number);
    }

    private static boolean mustBeQuoted(String digits) {
        return digits.matches("-?0[0-9]+");
    }

    private String epoch(Instant instant, String form) {
        return quotedOrNot(number(units(instant, form)));
    }

    private static BigDecimal units(Instant instant, String form) {
        if (form.equals("epoch-days")) {
            return BigDecimal.valueOf(
                    instant.atOffset(ZoneOffset.UTC).toLocalDate().toEpochDay());
        }
        int places = List.of("epoch-seconds", "", "", "epoch-millis", "", "", "epoch-micros", "", "", "epoch-nanos")
                .indexOf(form);
        BigDecimal seconds = BigDecimal.valueOf(instant.getEpochSecond()).add(BigDecimal.valueOf(instant.getNano(), 9));
        return seconds.movePointRight(places).stripTrailingZeros();
    }

    private String number(BigDecimal number) {
        String plain = number.toPlainString();
        return switch (chance.between(0, 9)) {
            case 0 -> number.scale() <= 0 ? plain + ".0" : plain + "00";
            case 1 -> plain + "e0";
            case 2 -> number.unscaledValue() + "E" + (number.scale() > 0 ? "-" : "+") + Math.abs(number.scale());
            case 3 -> number.signum() == 0 ? "-0" : plain;
            default -> plain;
        };
    }

    private String text(Instant instant, String form) {
        String id = switch (form) {
            case "uuid7" -> uuid(instant);
            case "ulid" -> ulid(instant);
            default -> "";
        };
        return id.isEmpty() ? iso(instant) : chance.percent(50) ? id : id.toUpperCase(Locale.ROOT);
    }

    /// The nanoseconds behind the milliseconds follow the version, so that ids have the order of times.
    private static String uuid(Instant instant) {
        int below = instant.getNano() % 1_000_000;
        String ms = "%012x".formatted(instant.toEpochMilli());
        return "%s-%s-7%03x-80%02x-0123456789ab"
                .formatted(ms.substring(0, 8), ms.substring(8), below >> 8, below & 0xff);
    }

    private static String ulid(Instant instant) {
        StringBuilder id = new StringBuilder();
        long ms = instant.toEpochMilli();
        for (int shift = 45; shift >= 0; shift -= 5) {
            id.append(CROCKFORD.charAt((int) (ms >> shift & 31)));
        }
        for (int shift = 75; shift >= 0; shift -= 5) {
            id.append(CROCKFORD.charAt(shift < 20 ? instant.getNano() % 1_000_000 >> shift & 31 : 0));
        }
        return id.toString();
    }

    private String iso(Instant instant) {
        OffsetDateTime time = instant.atOffset(ZoneOffset.ofTotalSeconds(60 * chance.of(OFFSET_MINUTES)));
        String text = DateTimeFormatter.ISO_LOCAL_DATE_TIME
                .format(time.withNano(0))
                .replace('T', chance.percent(80) ? 'T' : ' ');
        String seconds = text.length() == "2019-10-27T22:00".length() ? text + ":00" : text;
        String fraction = instant.getNano() == 0
                ? (chance.percent(20) ? ".000" : "")
                : ".%09d".formatted(instant.getNano()).replaceFirst("0+$", "");
        String offset = time.getOffset().getTotalSeconds() == 0 && chance.percent(50)
                ? "Z"
                : DateTimeFormatter.ofPattern(chance.of(List.of("xxx", "xxx", "xx")))
                        .format(time);
        return seconds + fraction + offset;
    }
}
