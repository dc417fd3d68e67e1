/// Questions and answers, as values.
@NullMarked
package dev.onefold.core.query;

import org.jspecify.annotations.NullMarked;
