package dev.onefold.aws.template;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// The functions, and what invokes them.
///
/// A snapshot is of a published version, and a version is only published where one of its properties changes. So its
/// description says everything that can change what the function is: the archive, the parameters, and a digest of the
/// function's own text.
final class Functions {
    static final String STATE_HANDLER = "dev.onefold.aws.function.StateFunction";
    static final String REDUCE_HANDLER = "dev.onefold.aws.function.ReduceFunction";

    private static final int DIGEST_CHARACTERS = 12;

    private Functions() {}

    static String yaml(Input input, String pipelineCode) {
        return function("State", STATE_HANDLER, pipelineCode)
                + function("Reduce", REDUCE_HANDLER, pipelineCode)
                + inputMapping(input == Input.NEW_STREAM ? "!GetAtt InputStream.Arn" : "!Ref InputStreamArn")
                + RETRIES_MAPPING
                + WAKES_MAPPING
                + TICK;
    }

    private static String function(String name, String handler, String pipelineCode) {
        String function = withLogs(name, handler, pipelineCode);
        return function + version(name, digest(function));
    }

    private static String withLogs(String name, String handler, String pipelineCode) {
        return """
              %1$sLogs:
                Type: AWS::Logs::LogGroup
                DeletionPolicy: Delete
                UpdateReplacePolicy: Delete
                Properties: {RetentionInDays: !Ref LogRetentionDays}
              %1$s:
                Type: AWS::Lambda::Function
                Properties:
                  Runtime: java25
                  Architectures: [arm64]
                  Handler: %2$s
                  Code: {S3Bucket: !Ref CodeBucket, S3Key: !Ref CodeKey}
                  Role: !GetAtt %1$sRole.Arn
                  MemorySize: !Ref %1$sMemory
                  Timeout: !Ref %1$sTimeout
                  SnapStart: {ApplyOn: PublishedVersions}
                  LoggingConfig: {LogFormat: JSON, LogGroup: !Ref %1$sLogs}
                  Environment:
                    Variables:
                      ONEFOLD_STACK: !Ref AWS::StackName
                      ONEFOLD_ROWS: !Ref Rows
                      ONEFOLD_DELTAS: !Ref Deltas
                      ONEFOLD_TOTALS: !Ref Totals
                      ONEFOLD_LETTERS: !Ref Letters
                      ONEFOLD_BUCKET: !Ref LettersBucket
                      ONEFOLD_PIPELINE: '%3$s'
            """.formatted(name, handler, pipelineCode);
    }

    private static String version(String name, String digest) {
        return """
              %1$sVersion:
                Type: AWS::Lambda::Version
                Properties:
                  FunctionName: !Ref %1$s
                  Description: !Sub '${CodeKey}, ${%1$sMemory} MB, ${%1$sTimeout} s, %2$s'
              %1$sAlias:
                Type: AWS::Lambda::Alias
                Properties:
                  Name: live
                  FunctionName: !Ref %1$s
                  FunctionVersion: !GetAtt %1$sVersion.Version
            """.formatted(name, digest);
    }

    /// Without end to retries and age: what is healthy goes on behind a bad record all the same, because State puts
    /// that aside and reports what it could not do.
    private static String inputMapping(String arn) {
        return """
              InputMapping:
                Type: AWS::Lambda::EventSourceMapping
                Properties:
                  EventSourceArn: %s
                  FunctionName: !Ref StateAlias
                  StartingPosition: TRIM_HORIZON
                  BatchSize: !Ref BatchSize
                  MaximumBatchingWindowInSeconds: !Ref MaximumBatchingWindow
                  ParallelizationFactor: !Ref ParallelizationFactor
                  BisectBatchOnFunctionError: true
                  FunctionResponseTypes: [ReportBatchItemFailures]
                  MaximumRecordAgeInSeconds: -1
                  MaximumRetryAttempts: -1
                  DestinationConfig: {OnFailure: {Destination: !GetAtt Retries.Arn}}
            """.formatted(arn);
    }

    private static String digest(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest).substring(0, DIGEST_CHARACTERS);
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("This Java has no SHA-256, which every one must have", missing);
        }
    }

    private static final String RETRIES_MAPPING = """
              RetriesMapping:
                Type: AWS::Lambda::EventSourceMapping
                Properties:
                  EventSourceArn: !GetAtt Retries.Arn
                  FunctionName: !Ref StateAlias
                  BatchSize: 10
                  FunctionResponseTypes: [ReportBatchItemFailures]
                  ScalingConfig: {MaximumConcurrency: 2}
            """;

    /// Only new deltas wake, not their removal. What is not delivered is found at the next minute, so few retries do.
    private static final String WAKES_MAPPING = """
              WakesMapping:
                Type: AWS::Lambda::EventSourceMapping
                Properties:
                  EventSourceArn: !GetAtt Deltas.StreamArn
                  FunctionName: !Ref ReduceAlias
                  StartingPosition: TRIM_HORIZON
                  BatchSize: 1000
                  MaximumBatchingWindowInSeconds: 0
                  FilterCriteria: {Filters: [{Pattern: '{"eventName":["INSERT"]}'}]}
                  MaximumRecordAgeInSeconds: 60
                  MaximumRetryAttempts: 2
            """;

    private static final String TICK = """
              Tick:
                Type: AWS::Events::Rule
                Properties:
                  Description: Wakes Reduce each minute, for what no stream delivered.
                  ScheduleExpression: rate(1 minute)
                  State: ENABLED
                  Targets:
                    - Id: Reduce
                      Arn: !Ref ReduceAlias
                      Input: '{}'
                      RetryPolicy: {MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0}
              TickPermission:
                Type: AWS::Lambda::Permission
                Properties:
                  Action: lambda:InvokeFunction
                  FunctionName: !Ref ReduceAlias
                  Principal: events.amazonaws.com
                  SourceArn: !GetAtt Tick.Arn
              TickRetries:
                Type: AWS::Lambda::EventInvokeConfig
                DependsOn: ReduceAlias
                Properties:
                  FunctionName: !Ref Reduce
                  Qualifier: live
                  MaximumEventAgeInSeconds: 60
                  MaximumRetryAttempts: 0
            """;
}
