/// The command `onefold`: the one place where the parts are put together.
///
/// A package imports only those to its right:
///
///     cli > reset > trial > deploy > test > look > aws > verbs > serve > seed >
///     batches > letters > run > data > show > call
@NullMarked
package dev.onefold.cli;

import org.jspecify.annotations.NullMarked;
