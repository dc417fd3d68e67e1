/// Stand-ins for CloudFormation and CloudWatch, and the one endpoint of all services.
@NullMarked
package dev.onefold.local.cloud;

import org.jspecify.annotations.NullMarked;
