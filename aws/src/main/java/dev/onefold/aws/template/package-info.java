/// The CloudFormation template of a pipeline: everything that it needs on AWS, in one text that the standard
/// command deploys. Its text is in the resources `template.yaml` and `batch.yaml`, and in `parts.yaml`, which has
/// the parts that both have in common.
@NullMarked
package dev.onefold.aws.template;

import org.jspecify.annotations.NullMarked;
