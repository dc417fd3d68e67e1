package dev.onefold.oracle;

/// A record that is no event, with the reason. It never leaves this package.
final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1;

    Refused(String reason) {
        super(reason, null, false, false);
    }

    String reason() {
        return String.valueOf(getMessage());
    }
}
