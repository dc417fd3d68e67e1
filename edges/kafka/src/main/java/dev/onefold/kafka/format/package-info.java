/// Records of Avro and Protobuf as JSON, by the schemas of their writers: [Decoding] is the way in.
@NullMarked
package dev.onefold.kafka.format;

import org.jspecify.annotations.NullMarked;
