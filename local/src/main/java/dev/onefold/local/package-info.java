/// What AWS does for the functions, on this machine: for the demo and for tests.
///
/// A package imports only those to its right:
///
///     local > demo > stack > function > gate > mapping > server > template > mapping.source
@NullMarked
package dev.onefold.local;

import org.jspecify.annotations.NullMarked;
