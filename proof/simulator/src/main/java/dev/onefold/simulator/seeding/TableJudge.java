package dev.onefold.simulator.seeding;

import dev.onefold.core.Engine;
import dev.onefold.core.state.Amount;
import dev.onefold.core.state.Row;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

/// Holds an engine's rows against the table itself.
final class TableJudge {
    private TableJudge() {}

    /// What is wrong; empty if nothing is. A row whose removal no log has may be there or not.
    static String wrongRows(Engine engine, UserTable table) {
        StringBuilder wrong = new StringBuilder();
        for (String id : table.keys()) {
            String found = shown(engine.get(List.of(id)));
            UserTable.Row row = table.row(id);
            String right = row == null ? "nothing" : row.town() + " " + row.amount() + ".25";
            if (!found.equals(right) && !table.isGhost(id)) {
                wrong.append(id)
                        .append(" is ")
                        .append(found)
                        .append(" and must be ")
                        .append(right)
                        .append('\n');
            }
        }
        return wrong.toString();
    }

    private static String shown(Optional<Row> row) {
        return row.filter(stored -> !stored.payload().groups().isEmpty())
                .map(stored -> stored.payload().groups().getFirst().parts().getFirst() + " "
                        + (stored.payload().amounts().getFirst() instanceof Amount.Number(BigDecimal value)
                                ? value.setScale(2).toPlainString()
                                : "none"))
                .orElse("nothing");
    }
}
