package dev.onefold.examples.sample;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// Two days at the tills of three shops.
final class ReceiptLines {
    private static final List<String> SHOPS = List.of("Harbour", "Station", "Hill, upper");
    private static final List<String> PRODUCTS = List.of("Tea", "Bread", "Soap \"Lily\"", "Nails, 2 kg", "Lamp");
    private static final int[] CENTS = {349, 280, 1_195, 625, 4_990};
    private static final Instant START = Instant.parse("2031-09-05T07:30:00Z");
    private static final int RECEIPTS = 38;

    private ReceiptLines() {}

    static List<String> make() {
        Random random = new Random(17);
        List<String> lines = new ArrayList<>();
        Instant at = START;
        for (int receipt = 1; receipt <= RECEIPTS; receipt++) {
            at = at.plusSeconds(600 + random.nextInt(5_400));
            String shop = Sample.any(random, SHOPS);
            String training = random.nextInt(12) == 0 ? "yes" : "no";
            int count = 1 + random.nextInt(4);
            for (int line = 1; line <= count; line++) {
                int product = random.nextInt(PRODUCTS.size());
                int pieces = random.nextInt(15) == 0 ? -1 : 1 + random.nextInt(3); // A negative one is a return.
                BigDecimal amount = BigDecimal.valueOf((long) CENTS[product] * pieces, 2);
                lines.add("R-" + (5_000 + receipt) + "," + line + "," + at + "," + quoted(shop) + ","
                        + quoted(PRODUCTS.get(product)) + "," + pieces + "," + amount + "," + training);
            }
        }
        List<String> sent = Sample.unreliably(random, lines, 0.06, 0.05);
        sent.add(40, "R-5099,1,2031-09-05T15:00:00Z,Harbour,Tea,1,\"3,49\",no"); // A till that was set up wrongly.
        sent.addFirst("receipt,line,soldAt,shop,product,quantity,amount,training");
        return sent;
    }

    private static String quoted(String text) {
        return text.contains(",") || text.contains("\"") ? '"' + text.replace("\"", "\"\"") + '"' : text;
    }
}
