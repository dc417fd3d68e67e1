package dev.onefold.core.shape;

/// A Java type that cannot be stored, a value that breaks a limit, or stored bytes that do not fit a type. The message
/// names the component.
public final class ShapeException extends RuntimeException {
    public ShapeException(String message) {
        super(message);
    }
}
