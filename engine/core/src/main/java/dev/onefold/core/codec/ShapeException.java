package dev.onefold.core.codec;

import org.jspecify.annotations.Nullable;

/// A Java type that cannot be stored, a value that breaks a limit, or stored bytes that do not fit a type. The message
/// names the component.
public final class ShapeException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public ShapeException(String message) {
        super(message);
    }

    ShapeException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
