package dev.onefold.core.grammar;

import dev.onefold.core.document.Problem;
import dev.onefold.core.pipeline.Pipeline;
import java.util.List;

/// The result of reading a pipeline file.
public sealed interface Reading {
    /// Nothing is wrong with it.
    record Read(Pipeline pipeline) implements Reading {}

    /// All its problems, by place; never empty.
    record Refused(List<Problem> problems) implements Reading {
        public Refused {
            problems = List.copyOf(problems);
        }
    }
}
