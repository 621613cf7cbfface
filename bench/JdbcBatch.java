import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;

/** Inserts rows by JDBC batches, and prints the seconds: url, statement, rows, rows per batch. */
public class JdbcBatch {
    public static void main(String[] arguments) throws Exception {
        int rows = Integer.parseInt(arguments[2]), perBatch = Integer.parseInt(arguments[3]);
        try (Connection connection = DriverManager.getConnection(arguments[0]);
                PreparedStatement statement = connection.prepareStatement(arguments[1])) {
            connection.setAutoCommit(false);
            long began = 0;
            // The first round warms the machine up.
            for (int round = 0; round < 2; round++) {
                began = System.nanoTime();
                for (int row = 0; row < rows; row++) {
                    statement.setLong(1, row % 1000);
                    statement.setDouble(2, row * 0.25);
                    statement.setString(3, "some text");
                    statement.addBatch();
                    if ((row + 1) % perBatch == 0 || row + 1 == rows) {
                        statement.executeBatch();
                        connection.commit();
                    }
                }
            }
            System.out.println((System.nanoTime() - began) / 1e9);
        }
    }
}
