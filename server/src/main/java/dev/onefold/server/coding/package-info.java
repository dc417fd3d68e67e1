/// [Gzip] decompresses contents of requests.
@NullMarked
package dev.onefold.server.coding;

import org.jspecify.annotations.NullMarked;
