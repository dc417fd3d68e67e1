package dev.onefold.fakes.aws.item;

import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;

/// How the service says no. The SDK has no class for most refusals, only a code.
public final class Refusal {
    public static final String VALIDATION = "ValidationException";

    private Refusal() {}

    /// A request that breaks a rule of the service.
    public static DynamoDbException invalid(String message) {
        return (DynamoDbException)
                filled(DynamoDbException.builder(), VALIDATION, message).build();
    }

    /// A builder of an exception with what every exception of the service says.
    public static <B extends DynamoDbException.Builder> B filled(B builder, String code, String message) {
        int status = code.equals("InternalServerError") ? 500 : 400;
        builder.message(message)
                .statusCode(status)
                .requestId("simulated")
                .awsErrorDetails(AwsErrorDetails.builder()
                        .serviceName("DynamoDb")
                        .errorCode(code)
                        .errorMessage(message)
                        .build());
        return builder;
    }

    /// Whether it says that the request broke a rule.
    public static boolean isInvalid(DynamoDbException failure) {
        return VALIDATION.equals(failure.awsErrorDetails().errorCode());
    }
}
