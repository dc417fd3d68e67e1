/// `onefold aws`: the verbs on what is deployed.
@NullMarked
package dev.onefold.cli.aws;

import org.jspecify.annotations.NullMarked;
