/// What AWS does for the functions, on this machine: for the demo and for tests.
///
/// A package imports only those to its right:
///
///     local > demo > cloud > stack > function > gate > meter > server > template
@NullMarked
package dev.onefold.local;

import org.jspecify.annotations.NullMarked;
