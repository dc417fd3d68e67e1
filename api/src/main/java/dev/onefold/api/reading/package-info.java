/// Reads the content of answers: what a client of the routes makes of them.
@NullMarked
package dev.onefold.api.reading;

import org.jspecify.annotations.NullMarked;
