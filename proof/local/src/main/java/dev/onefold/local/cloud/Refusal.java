package dev.onefold.local.cloud;

/// Why a service does not do what it is asked, as AWS would say it.
final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String code;

    /// @param code of the error, such as `ValidationError`
    Refusal(String code, String message) {
        super(message);
        this.code = code;
    }

    static Refusal invalid(String message) {
        return new Refusal("ValidationError", message);
    }

    String code() {
        return code;
    }

    String message() {
        return String.valueOf(getMessage());
    }
}
