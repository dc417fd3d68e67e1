package dev.onefold.api;

import dev.onefold.core.bytes.Utf8;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A request to an engine.
///
/// @param method method of HTTP, such as `GET`
/// @param path segments of the path, decoded
/// @param parameters parameters of the query, decoded, each with its values in their order
/// @param body the content; empty if there is none
public record Request(String method, List<String> path, Map<String, List<String>> parameters, byte[] body) {
    /// A request that cannot be answered; never leaves this package.
    static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final transient Failure problem;

        Refused(Failure problem) {
            super(problem.detail());
            this.problem = problem;
        }

        Failure failure() {
            return problem;
        }
    }

    /// The request to a target such as `/v1/trades/totals?depth=1`.
    ///
    /// @throws IllegalArgumentException if the target cannot be read
    public static Request of(String method, String target, byte[] body) {
        if (!target.startsWith("/")) {
            throw new IllegalArgumentException("The target of the request does not begin with /");
        }
        int mark = target.indexOf('?');
        String path = mark < 0 ? target : target.substring(0, mark);
        List<String> segments = new ArrayList<>();
        for (String segment : path.substring(1).split("/", -1)) {
            segments.add(decoded(segment)); // In a path a plus is a plus.
        }
        Map<String, List<String>> parameters = new LinkedHashMap<>();
        if (mark >= 0 && mark + 1 < target.length()) {
            for (String each : target.substring(mark + 1).split("&", -1)) {
                int equals = each.indexOf('=');
                String name = decodedWord(equals < 0 ? each : each.substring(0, equals));
                parameters
                        .computeIfAbsent(name, _ -> new ArrayList<>())
                        .add(equals < 0 ? "" : decodedWord(each.substring(equals + 1)));
            }
        }
        return new Request(method, segments, parameters, body);
    }

    /// A name or a value of the query.
    private static String decodedWord(String text) {
        return decoded(text.replace('+', ' '));
    }

    private static String decoded(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%') {
                bytes.write(percentEncodedByte(text, i));
                i += 2;
            } else {
                bytes.write(c);
            }
        }
        return Utf8.decode(bytes.toByteArray())
                .orElseThrow(() -> new IllegalArgumentException(
                        "The target of the request has '" + text + "', which is not percent-encoded UTF-8"));
    }

    private static int percentEncodedByte(String text, int at) {
        if (at + 2 >= text.length()
                || !HexFormat.isHexDigit(text.charAt(at + 1))
                || !HexFormat.isHexDigit(text.charAt(at + 2))) {
            throw new IllegalArgumentException(
                    "The target of the request has '" + text + "', where no two hexadecimal digits are behind a %");
        }
        return HexFormat.fromHexDigits(text, at + 1, at + 3);
    }

    /// Requires that the request has no parameters but these, and no content.
    void allow(String... names) {
        if (body.length > 0) {
            throw new IllegalArgumentException("There is no use for content here");
        }
        allowWithBody(names);
    }

    /// Requires that the request has no parameters but these.
    void allowWithBody(String... names) {
        for (String name : parameters.keySet()) {
            if (!List.of(names).contains(name)) {
                throw new IllegalArgumentException("There is no parameter '" + name + "' here"
                        + (names.length == 0 ? "" : "; there is " + String.join(", ", names)));
            }
        }
    }

    /// A parameter; `null` without it.
    @Nullable
    String parameter(String name) {
        List<String> values = parameters.getOrDefault(name, List.of());
        if (values.size() > 1) {
            throw new IllegalArgumentException("The parameter '" + name + "' is there " + values.size() + " times");
        }
        return values.isEmpty() ? null : values.getFirst();
    }

    /// A parameter that must be there.
    String required(String name) {
        String value = parameter(name);
        if (value == null) {
            throw new IllegalArgumentException("The parameter '" + name + "' is missing");
        }
        return value;
    }

    /// A parameter that is `true` or `false`; `false` without it.
    boolean flag(String name) {
        String value = parameter(name);
        if (value != null && !value.equals("true") && !value.equals("false")) {
            throw new IllegalArgumentException("The parameter '" + name + "' is true or false, not '" + value + "'");
        }
        return "true".equals(value);
    }

    /// A parameter that is a whole number.
    long number(String name, long otherwise) {
        String value = parameter(name);
        return value == null ? otherwise : number("parameter '" + name + "'", value);
    }

    /// A parameter that is a whole number of 32 bits.
    int integer(String name, int otherwise) {
        long value = number(name, otherwise);
        if (value != (int) value) {
            throw new IllegalArgumentException("The parameter '" + name + "' is " + value + "; it is at most "
                    + Integer.MAX_VALUE + " and at least " + Integer.MIN_VALUE);
        }
        return (int) value;
    }

    /// The number of a text.
    ///
    /// @param what the meaning of the text, for the message
    static long number(String what, String text) {
        IllegalArgumentException wrong =
                new IllegalArgumentException("The " + what + " is not a whole number: '" + text + "'");
        if (!text.matches("-?[0-9]{1,19}")) {
            throw wrong; // Java takes the digits of all scripts.
        }
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException outOfRange) {
            throw wrong;
        }
    }
}
