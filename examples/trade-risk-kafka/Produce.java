import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/// Makes a topic, and puts each line of a file into it, one line in a hundred twice: `Produce SERVERS TOPIC PARTITIONS FILE`.
class Produce {
    public static void main(String[] arguments) throws Exception {
        Map<String, Object> settings =
                Map.of("bootstrap.servers", arguments[0], "acks", "all", "compression.type", "lz4", "linger.ms", 20);
        try (Admin admin = Admin.create(settings)) {
            admin.createTopics(List.of(new NewTopic(arguments[1], Integer.parseInt(arguments[2]), (short) 1)))
                    .all()
                    .get();
        }
        long records = 0;
        try (KafkaProducer<byte[], byte[]> producer =
                        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
                var lines = Files.lines(Path.of(arguments[3]))) {
            for (String line : (Iterable<String>) lines::iterator) {
                for (int copies = records % 100 == 0 ? 2 : 1; copies > 0; copies--) {
                    producer.send(new ProducerRecord<>(arguments[1], line.getBytes("UTF-8")), (_, failure) -> {
                        if (failure != null) {
                            failure.printStackTrace();
                            Runtime.getRuntime().halt(1);
                        }
                    });
                    records++;
                }
            }
        }
        System.out.println(records + " records are in the topic");
    }
}
