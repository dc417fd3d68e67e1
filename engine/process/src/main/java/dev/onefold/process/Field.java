package dev.onefold.process;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// The field of the record that a component of an event is read from, where it is not the component's own
/// name. A path is written as in a pipeline file: `position.metres`, and a name with a dot in double
/// quotes. On a component of a row or of a context it is the name under which the component is stored.
@Target(ElementType.RECORD_COMPONENT)
@Retention(RetentionPolicy.RUNTIME)
public @interface Field {
    String value();
}
