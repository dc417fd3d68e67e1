/// The live page: its files, and how they are sent. The page itself is HTML, CSS and JavaScript among the resources.
@NullMarked
package dev.onefold.server.page;

import org.jspecify.annotations.NullMarked;
