package dev.onefold.aws.state;

import dev.onefold.core.StoredRow;
import dev.onefold.core.pipeline.Pipeline;

/// A row that lost a conflict, and whose record is gone.
///
/// @param pipeline that read the record
public record LostRow(StoredRow row, Pipeline pipeline) {}
