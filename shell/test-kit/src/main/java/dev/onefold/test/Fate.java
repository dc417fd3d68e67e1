package dev.onefold.test;

/// The fate of a batch of events.
enum Fate {
    STORED(""),
    LOST("crash before the step is stored, and again"),
    REPEATED("stored, crash, and again"),
    TWIN("by two processes at once");

    private final String words;

    Fate(String words) {
        this.words = words;
    }

    /// For a message; empty if nothing is odd.
    String words() {
        return words;
    }
}
