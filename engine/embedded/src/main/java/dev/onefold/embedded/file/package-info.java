/// Files of records: decompressed, and known again when they are renamed.
@NullMarked
package dev.onefold.embedded.file;

import org.jspecify.annotations.NullMarked;
