package dev.onefold.aws.template;

/// One role for each function: what it does and nothing else, on what the stack holds and nothing else.
final class Roles {
    private Roles() {}

    static String yaml(Input input) {
        return role("State", STATE + input(input)) + role("Reduce", REDUCE) + role("Upkeep", UPKEEP);
    }

    private static String role(String function, String statements) {
        return """
                  %1$sRole:
                    Type: AWS::IAM::Role
                    Properties:
                      AssumeRolePolicyDocument:
                        Version: '2012-10-17'
                        Statement:
                          - Effect: Allow
                            Principal: {Service: lambda.amazonaws.com}
                            Action: ['sts:AssumeRole']
                      Policies:
                        - PolicyName: %1$s
                          PolicyDocument:
                            Version: '2012-10-17'
                            Statement:
                """.formatted(function)
                + allow("Logs", "!GetAtt " + function + "Logs.Arn", "logs:CreateLogStream", "logs:PutLogEvents")
                + statements;
    }

    private static String allow(String id, String resource, String... actions) {
        return """
                              - Sid: %s
                                Effect: Allow
                                Action: ['%s']
                                Resource: [%s]
                """.formatted(id, String.join("', '", actions), resource);
    }

    private static String input(Input input) {
        return switch (input) {
            case NEW_STREAM -> stream("!GetAtt InputStream.Arn");
            case STREAM -> stream("!Ref InputStreamArn") + KEY;
            case TABLE ->
                changes(
                                "Input",
                                "!Ref InputStreamArn",
                                "!Join ['', [!Select [0, !Split ['/stream/', !Ref InputStreamArn]], '/stream/*']]")
                        + KEY;
        };
    }

    private static String stream(String arn) {
        return allow(
                "Input",
                arn,
                "kinesis:DescribeStream",
                "kinesis:DescribeStreamSummary",
                "kinesis:GetRecords",
                "kinesis:GetShardIterator",
                "kinesis:ListShards");
    }

    /// @param all the streams of the table: to list them is asked of a table, and so not of one stream by its name
    private static String changes(String id, String arn, String all) {
        return allow(id, arn, "dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator")
                + allow(id + "Streams", all, "dynamodb:ListStreams");
    }

    // An object has a name of its own, so it cannot be named here.
    private static final String STATE = allow(
                    "Rows",
                    "!GetAtt Rows.Arn",
                    "dynamodb:BatchGetItem",
                    "dynamodb:ConditionCheckItem",
                    "dynamodb:DescribeTable",
                    "dynamodb:GetItem",
                    "dynamodb:PutItem",
                    "dynamodb:UpdateItem")
            + allow("Deltas", "!GetAtt Deltas.Arn", "dynamodb:DescribeTable", "dynamodb:PutItem")
            + allow("Totals", "!GetAtt Totals.Arn", "dynamodb:DescribeTable", "dynamodb:GetItem")
            + allow(
                    "Letters",
                    "!GetAtt Letters.Arn",
                    "dynamodb:DescribeTable",
                    "dynamodb:GetItem",
                    "dynamodb:PutItem",
                    "dynamodb:UpdateItem")
            + allow("LettersBytes", "!Sub '${LettersBucket.Arn}/*'", "s3:PutObject")
            + allow(
                    "Retries",
                    "!GetAtt Retries.Arn",
                    "sqs:DeleteMessage",
                    "sqs:GetQueueAttributes",
                    "sqs:ReceiveMessage",
                    "sqs:SendMessage");

    private static final String REDUCE = allow(
                    "Deltas",
                    "!GetAtt Deltas.Arn",
                    "dynamodb:DeleteItem",
                    "dynamodb:DescribeTable",
                    "dynamodb:GetItem",
                    "dynamodb:Query")
            + allow(
                    "Totals",
                    "!GetAtt Totals.Arn",
                    "dynamodb:BatchGetItem",
                    "dynamodb:DescribeTable",
                    "dynamodb:GetItem",
                    "dynamodb:PutItem",
                    "dynamodb:UpdateItem")
            + allow("Rows", "!GetAtt Rows.Arn", "dynamodb:DescribeTable", "dynamodb:GetItem")
            + allow("Letters", "!GetAtt Letters.Arn", "dynamodb:DescribeTable")
            + changes("Wakes", "!GetAtt Deltas.StreamArn", "!Sub '${Deltas.Arn}/stream/*'");

    private static final String UPKEEP = allow(
                    "Rows",
                    "!GetAtt Rows.Arn",
                    "dynamodb:BatchGetItem",
                    "dynamodb:ConditionCheckItem",
                    "dynamodb:DescribeTable",
                    "dynamodb:GetItem",
                    "dynamodb:PutItem",
                    "dynamodb:Scan",
                    "dynamodb:UpdateItem")
            + allow(
                    "Letters",
                    "!GetAtt Letters.Arn",
                    "dynamodb:DeleteItem",
                    "dynamodb:DescribeTable",
                    "dynamodb:GetItem",
                    "dynamodb:PutItem",
                    "dynamodb:Query",
                    "dynamodb:UpdateItem")
            + allow("LettersBytes", "!Sub '${LettersBucket.Arn}/*'", "s3:DeleteObject", "s3:GetObject", "s3:PutObject")
            + allow(
                    "Deltas",
                    "!GetAtt Deltas.Arn",
                    "dynamodb:DeleteItem",
                    "dynamodb:DescribeTable",
                    "dynamodb:GetItem",
                    "dynamodb:PutItem",
                    "dynamodb:Query")
            + allow(
                    "Totals",
                    "!GetAtt Totals.Arn",
                    "dynamodb:BatchGetItem",
                    "dynamodb:BatchWriteItem",
                    "dynamodb:DescribeTable",
                    "dynamodb:GetItem",
                    "dynamodb:PutItem",
                    "dynamodb:Query",
                    "dynamodb:UpdateItem");

    private static final String KEY = """
                          - !If
                            - HasInputKey
                            - Sid: InputKey
                              Effect: Allow
                              Action: ['kms:Decrypt']
                              Resource: [!Ref InputStreamKeyArn]
                            - !Ref AWS::NoValue
            """;
}
