/// The engine on one machine: one durable process.
///
/// A package imports only those to its right:
///
///     embedded > definition > intake > publication > delivery > view > commit > directory > fold >
///     guard > batches > letters > rows > checkpoint > framing > source > file > disk
@NullMarked
package dev.onefold.embedded;

import org.jspecify.annotations.NullMarked;
