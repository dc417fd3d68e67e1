/// AWS services that fail as the real ones may, in virtual time, behind the interfaces of the SDK.
///
/// A package imports only those to its right:
///
///     fakes > aws.bucket > queue > stream > aws > aws.table > aws.expression > aws.item
@NullMarked
package dev.onefold.fakes;

import org.jspecify.annotations.NullMarked;
