package dev.onefold.aws.state;

import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Row;

/// A row that lost a conflict, and whose record is gone.
///
/// @param pipeline that read the record
public record LostRow(Row row, Pipeline pipeline) {}
