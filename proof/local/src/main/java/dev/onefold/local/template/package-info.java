/// What a template of ours says: as much of CloudFormation as that uses.
@NullMarked
package dev.onefold.local.template;

import org.jspecify.annotations.NullMarked;
