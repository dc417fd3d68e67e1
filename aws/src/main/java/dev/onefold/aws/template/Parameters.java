package dev.onefold.aws.template;

/// What a user says or tunes when deploying. A function's timeouts are a list, because the queue's visibility follows
/// them and CloudFormation cannot multiply.
final class Parameters {
    private Parameters() {}

    static String yaml(Input input) {
        return groups(input) + "Parameters:\n" + input(input) + COMMON + CONDITIONS
                + (input == Input.NEW_STREAM ? "" : KEY);
    }

    private static String groups(Input input) {
        String settings = input == Input.NEW_STREAM ? "StreamRetentionHours, " : "InputStreamArn, InputStreamKeyArn, ";
        return """
                Metadata:
                  AWS::CloudFormation::Interface:
                    ParameterGroups:
                      - Label: {default: Code}
                        Parameters: [CodeBucket, CodeKey]
                      - Label: {default: Input}
                        Parameters: [%sBatchSize, MaximumBatchingWindow, ParallelizationFactor, MaxReceiveCount]
                      - Label: {default: Functions}
                        Parameters:
                          [StateMemory, StateTimeout, ReduceMemory, ReduceTimeout, UpkeepMemory, UpkeepTimeout, LogRetentionDays]
                      - Label: {default: Layout of a new deployment}
                        Parameters: [Lanes, Gates]
                      - Label: {default: Safety}
                        Parameters: [DeletionProtection, AlarmTopicArn, AlarmLagMs, AuditOneIn]
                """.formatted(settings);
    }

    private static String input(Input input) {
        return switch (input) {
            case NEW_STREAM -> """
                  StreamRetentionHours:
                    Type: Number
                    Description: How long the stream keeps records, in hours. An outage that lasts longer loses input.
                    Default: 168
                    MinValue: 24
                    MaxValue: 8760
                """;
            case STREAM -> given("kinesis", ":stream/[a-zA-Z0-9_.-]{1,128}", "the Kinesis stream that is read");
            case TABLE ->
                given(
                        "dynamodb",
                        ":table/[a-zA-Z0-9_.-]{3,255}/stream/[0-9T:.-]+",
                        "the stream of the DynamoDB table that is read; it must carry new images");
        };
    }

    private static String given(String service, String name, String what) {
        return """
                  InputStreamArn:
                    Type: String
                    Description: ARN of %s.
                    AllowedPattern: 'arn:aws[a-z-]*:%s:[a-z0-9-]+:[0-9]{12}%s'
                  InputStreamKeyArn:
                    Type: String
                    Description: ARN of the key of your own that encrypts it, if there is one.
                    Default: ''
                    AllowedPattern: '(arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[a-zA-Z0-9-]+)?'
                """.formatted(what, service, name);
    }

    private static final String COMMON =
            """
              CodeBucket:
                Type: String
                Description: Bucket, in this region, that holds the archive of the functions.
                AllowedPattern: '[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]'
              CodeKey:
                Type: String
                Description: Key of the archive in that bucket. Give each archive a key of its own, or a new one is not noticed.
                MinLength: 1
                MaxLength: 100
              BatchSize:
                Type: Number
                Description: batchSize, the most records that one invocation of State gets.
                Default: 1000
                MinValue: 1
                MaxValue: 10000
              MaximumBatchingWindow:
                Type: Number
                Description: maximumBatchingWindow, how many seconds a batch may wait for more records.
                Default: 0
                MinValue: 0
                MaxValue: 300
              ParallelizationFactor:
                Type: Number
                Description: parallelizationFactor, how many batches of one shard are worked on at a time.
                Default: 1
                MinValue: 1
                MaxValue: 10
              MaxReceiveCount:
                Type: Number
                Description: maxReceiveCount, how often the retry queue delivers a message before it is put aside.
                Default: 5
                MinValue: 2
                MaxValue: 1000
              StateMemory:
                Type: Number
                Description: Memory of State in MB. One processor comes with 1769.
                Default: 1769
                MinValue: 512
                MaxValue: 10240
              StateTimeout:
                Type: Number
                Description: Timeout of State in seconds.
                Default: 60
                AllowedValues: [30, 60, 120, 300, 900]
              ReduceMemory:
                Type: Number
                Description: Memory of Reduce in MB. One processor comes with 1769.
                Default: 1769
                MinValue: 512
                MaxValue: 10240
              ReduceTimeout:
                Type: Number
                Description: Timeout of Reduce in seconds.
                Default: 60
                AllowedValues: [30, 60, 120, 300, 900]
              UpkeepMemory:
                Type: Number
                Description: Memory of Upkeep in MB. One processor comes with 1769.
                Default: 1769
                MinValue: 512
                MaxValue: 10240
              UpkeepTimeout:
                Type: Number
                Description: Timeout of Upkeep in seconds. It goes on where it stopped, each minute.
                Default: 60
                AllowedValues: [60, 120, 300, 900]
              Lanes:
                Type: Number
                Description: For a new deployment, into how many parts totals are split; later the tables keep the number.
                Default: %d
                MinValue: 1
                MaxValue: %d
              Gates:
                Type: Number
                Description: For a new deployment, how many items keep writers of an old definition out.
                Default: %d
                MinValue: 1
                MaxValue: %d
              LogRetentionDays:
                Type: Number
                Description: How many days logs are kept.
                Default: 30
                AllowedValues: [7, 14, 30, 60, 90, 180, 365, 731, 1827, 3653]
              DeletionProtection:
                Type: String
                Description: Whether the tables refuse to be deleted. Set false before a tear-down.
                Default: 'true'
                AllowedValues: ['true', 'false']
              AlarmTopicArn:
                Type: String
                Description: ARN of the SNS topic that alarms go to; empty, and they are only shown.
                Default: ''
                AllowedPattern: '(arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[a-zA-Z0-9_.-]{1,256})?'
              AlarmLagMs:
                Type: Number
                Description: Lag in milliseconds, of the input or of the deltas, from which on an alarm is raised.
                Default: 60000
                MinValue: 1000
              AuditOneIn:
                Type: Number
                Description: Each day one leaf group in so many is recomputed from the rows and compared; 0 is none.
                Default: 16
                MinValue: 0
                MaxValue: 1000000
            """.formatted(Layout.DEFAULT.lanes(), Layout.LANES_MAX, Layout.DEFAULT.gates(), Layout.GATES_MAX);

    private static final String CONDITIONS = """
            Mappings:
              Visibility:
                '30': {Seconds: 180}
                '60': {Seconds: 360}
                '120': {Seconds: 720}
                '300': {Seconds: 1800}
                '900': {Seconds: 5400}
            Conditions:
              HasAlarmTopic: !Not [!Equals [!Ref AlarmTopicArn, '']]
            """;

    private static final String KEY = """
              HasInputKey: !Not [!Equals [!Ref InputStreamKeyArn, '']]
            """;
}
