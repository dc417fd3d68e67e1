package dev.onefold.core.pipeline;

/// How a field says an instant. `AUTO`: text is ISO-8601, a number is epoch seconds.
public enum TimeType {
    AUTO("auto"),
    ISO("iso"),
    EPOCH_SECONDS("epoch-seconds"),
    EPOCH_MILLIS("epoch-millis");

    private final String word;

    TimeType(String word) {
        this.word = word;
    }

    /// The word for it in a pipeline file.
    public String word() {
        return word;
    }
}
