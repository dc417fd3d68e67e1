package dev.onefold.core.process;

import dev.onefold.core.codec.Codec;
import dev.onefold.core.codec.ShapeException;
import java.security.CodeSource;
import java.util.Map;
import java.util.Optional;

/// The code of a function: a class, or a program in another language. Several threads use it.
sealed interface FunctionBody permits JavaBody, CommandFunction {
    /// Its name at the beginning of a message.
    String name();

    /// The word for the part of it that names its tables.
    String tablesWord();

    /// @throws ShapeException if contexts cannot be stored
    Codec<Record> context();

    /// @throws ShapeException if events cannot be stored
    Codec<Record> event();

    /// The declared rows, by table.
    ///
    /// @throws ShapeException if they cannot be stored
    Map<String, Codec<Record>> tables();

    /// The context of a key without events.
    ///
    /// @throws ShapeException if there is none
    Record start();

    /// The same code as another process has it.
    FunctionBody renewed();

    /// Ends what it has started.
    void release();

    /// Whether it upgrades contexts itself.
    boolean upgrades();

    Optional<CodeSource> source();
}
