/// How results look: numbers, tables, trees, JSON and CSV. It writes text and knows no streams.
@NullMarked
package dev.onefold.cli.show;

import org.jspecify.annotations.NullMarked;
