/// How the live page is sent.
@NullMarked
package dev.onefold.server.page;

import org.jspecify.annotations.NullMarked;
