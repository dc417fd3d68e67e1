/// Reads the content of answers, for a client of the routes.
@NullMarked
package dev.onefold.api.reading;

import org.jspecify.annotations.NullMarked;
