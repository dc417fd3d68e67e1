/// Who calls a command and from where: streams, folder, environment and terminal, and how a command ends.
@NullMarked
package dev.onefold.cli.call;

import org.jspecify.annotations.NullMarked;
