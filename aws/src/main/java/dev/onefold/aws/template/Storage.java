package dev.onefold.aws.template;

import java.util.Locale;

/// What holds something: the stream, the tables, the bucket, the queue. What holds the truth outlives the stack.
final class Storage {
    private Storage() {}

    static String yaml(Input input) {
        return (input == Input.NEW_STREAM ? STREAM : "")
                + table(
                        "Rows",
                        "{AttributeName: k, AttributeType: B}",
                        "{AttributeName: k, KeyType: HASH}",
                        capacity("Rows"))
                // The stream only wakes Reduce. No position in it marks anything, so keys are enough.
                + table("Deltas", attributes("l", "i", "S"), keys("l", "i"), capacity("Deltas") + """
                      StreamSpecification: {StreamViewType: KEYS_ONLY}
                """)
                + table("Totals", attributes("p", "g", "B"), keys("p", "g"), capacity("Totals"))
                + table("Letters", attributes("p", "i", "B"), keys("p", "i"), """
                      BillingMode: PAY_PER_REQUEST
                """)
                + BUCKET
                + QUEUES;
    }

    private static String attributes(String hash, String range, String rangeType) {
        return "{AttributeName: %s, AttributeType: S}, {AttributeName: %s, AttributeType: %s}"
                .formatted(hash, range, rangeType);
    }

    private static String keys(String hash, String range) {
        return "{AttributeName: %s, KeyType: HASH}, {AttributeName: %s, KeyType: RANGE}".formatted(hash, range);
    }

    private static String capacity(String table) {
        return """
                      BillingMode: !If [IsProvisioned, PROVISIONED, PAY_PER_REQUEST]
                      ProvisionedThroughput: !If
                        - IsProvisioned
                        - {ReadCapacityUnits: !Ref %1$sReadUnits, WriteCapacityUnits: !Ref %1$sWriteUnits}
                        - !Ref AWS::NoValue
                      WarmThroughput: !If
                        - IsProvisioned
                        - !Ref AWS::NoValue
                        - !If
                          - Has%1$sUnits
                          - {ReadUnitsPerSecond: !Ref %1$sReadUnits, WriteUnitsPerSecond: !Ref %1$sWriteUnits}
                          - !Ref AWS::NoValue
                """.formatted(table);
    }

    /// A table from which nothing expires. Its name is known to whoever knows the stack's.
    private static String table(String name, String attributes, String keys, String more) {
        return """
                  %s:
                    Type: AWS::DynamoDB::Table
                    DeletionPolicy: Retain
                    UpdateReplacePolicy: Retain
                    Properties:
                      TableName: !Sub '${AWS::StackName}-%s'
                      AttributeDefinitions: [%s]
                      KeySchema: [%s]
                      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}
                      SSESpecification: {SSEEnabled: true}
                      DeletionProtectionEnabled: !Ref DeletionProtection
                """.formatted(name, name.toLowerCase(Locale.ROOT), attributes, keys) + more;
    }

    /// Nobody documents what a mapping that gives nothing up does with a record that fits into no invocation (6 MB, of
    /// which base64 takes a quarter). So a stream of ours takes none: with its envelope, the largest has
    /// 5,994,000 bytes.
    private static final String STREAM = """
              InputStream:
                Type: AWS::Kinesis::Stream
                DeletionPolicy: Retain
                UpdateReplacePolicy: Retain
                Properties:
                  Name: !Sub '${AWS::StackName}-input'
                  StreamModeDetails: {StreamMode: !If [HasShards, PROVISIONED, ON_DEMAND]}
                  ShardCount: !If [HasShards, !Ref StreamShards, !Ref AWS::NoValue]
                  RetentionPeriodHours: !Ref StreamRetentionHours
                  MaxRecordSizeInKiB: 4390
                  StreamEncryption: {EncryptionType: KMS, KeyId: alias/aws/kinesis}
            """;

    private static final String BUCKET = """
              LettersBucket:
                Type: AWS::S3::Bucket
                DeletionPolicy: Retain
                UpdateReplacePolicy: Retain
                Properties:
                  BucketEncryption:
                    ServerSideEncryptionConfiguration:
                      - ServerSideEncryptionByDefault: {SSEAlgorithm: AES256}
                  OwnershipControls: {Rules: [{ObjectOwnership: BucketOwnerEnforced}]}
                  PublicAccessBlockConfiguration:
                    BlockPublicAcls: true
                    BlockPublicPolicy: true
                    IgnorePublicAcls: true
                    RestrictPublicBuckets: true
                  VersioningConfiguration: {Status: Enabled}
              LettersBucketPolicy:
                Type: AWS::S3::BucketPolicy
                Properties:
                  Bucket: !Ref LettersBucket
                  PolicyDocument:
                    Version: '2012-10-17'
                    Statement:
                      - Sid: EncryptedConnectionsOnly
                        Effect: Deny
                        Principal: '*'
                        Action: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject', 's3:ListBucket']
                        Resource: [!GetAtt LettersBucket.Arn, !Sub '${LettersBucket.Arn}/*']
                        Condition: {Bool: {'aws:SecureTransport': false}}
            """;

    /// The retry queue gets the positions of records that no invocation could take, such as one of more than 6 MB.
    private static final String QUEUES = """
              Retries:
                Type: AWS::SQS::Queue
                DeletionPolicy: Delete
                UpdateReplacePolicy: Delete
                Properties:
                  MessageRetentionPeriod: 1209600
                  VisibilityTimeout: !FindInMap [Visibility, !Ref StateTimeout, Seconds]
                  SqsManagedSseEnabled: true
                  RedrivePolicy:
                    deadLetterTargetArn: !GetAtt RetriesAside.Arn
                    maxReceiveCount: !Ref MaxReceiveCount
              RetriesAside:
                Type: AWS::SQS::Queue
                DeletionPolicy: Retain
                UpdateReplacePolicy: Retain
                Properties:
                  MessageRetentionPeriod: 1209600
                  SqsManagedSseEnabled: true
            """;
}
