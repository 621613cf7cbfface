package antumbra;

import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Statistics$;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.catalyst.plans.physical.SinglePartition$;
import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning;
import org.apache.spark.sql.catalyst.types.DataTypeUtils;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.arrow.ArrowBatchStreamWriter;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Nil$;
import scala.jdk.javaapi.CollectionConverters;
import scala.math.BigInt;

/**
 * A whole pipeline in one call from Python: SQL over rows in Arrow files, and the answer into an Arrow file.
 *
 * What PySpark does for the same in some forty calls, each of which waits its turn for Python's interpreter. Compiled by Janino, as
 * SparkFunctions is: hence no lambdas and no inferred types.
 */
public final class SparkPipelines {
    private static final ConcurrentHashMap PREPARED = new ConcurrentHashMap();

    /** Makes rows known to SQL that stay as they are until `dropView`. file, schema: of `source`; bytes: about how many the rows have. */
    public static void makeView(SparkSession session, String name, String file, String schema, int partitions, long bytes) {
        source(session, file, schema, partitions, false, bytes).createOrReplaceTempView(name);
    }

    /** Makes the session plan as `PreparedQuery` needs it. */
    public static void open(SparkSession session) {
        session.experimental().extraOptimizations_$eq(Nil$.MODULE$.$colon$colon(new PreparedQuery.WithoutBroadcasts()));
    }

    public static void dropView(SparkSession session, String name) {
        session.catalog().dropTempView(name);
    }

    /**
     * Plans `sql`, to be run under the name of `query`. inputs: lines, by turns the name of a view that `sql` reads, which is that of its
     * files in `folder` too, its schema, its number of partitions, and about how many bytes it has. The files are written for each
     * run; there need be none yet.
     */
    public static void prepare(SparkSession session, String query, String folder, String inputs, String sql) {
        String[] lines = inputs.isEmpty() ? new String[0] : inputs.split("\n");
        try {
            int most = 1;
            for (int i = 0; i < lines.length; i += 4) {
                int partitions = Integer.parseInt(lines[i + 2]);
                long bytes = Long.parseLong(lines[i + 3]);
                most = Math.max(most, partitions);
                source(session, folder + "/" + lines[i], lines[i + 1], partitions, true, bytes).createOrReplaceTempView(lines[i]);
            }
            PREPARED.put(query, new PreparedQuery(session, sql, most));
        } finally {
            for (int i = 0; i < lines.length; i += 4) dropView(session, lines[i]);
        }
    }

    /**
     * Writes the answer of a query into `file`, as an Arrow stream; returns whether the next run will compute the rows of its inputs and
     * nothing else. `job` names Spark's jobs, for cancelling.
     */
    public static boolean run(SparkSession session, String job, String query, String file) throws IOException {
        session.sparkContext().setJobGroup(job, job, true);
        PreparedQuery prepared = (PreparedQuery) PREPARED.get(query);
        byte[][] batches = prepared.collect();
        OutputStream output = new BufferedOutputStream(new FileOutputStream(file), 1 << 16);
        try {
            String zone = session.sessionState().conf().sessionLocalTimeZone();
            ArrowBatchStreamWriter writer = new ArrowBatchStreamWriter(prepared.schema(), output, zone, true, false);
            writer.writeBatches(CollectionConverters.asScala(Arrays.asList(batches).iterator()));
            writer.end();
        } finally {
            output.close();
        }
        return prepared.isKept();
    }

    public static void forget(String query) {
        PREPARED.remove(query);
    }

    /** Stops what runs under the name of `job`, and what would follow. */
    public static void cancel(SparkSession session, String job) {
        session.sparkContext().cancelJobGroupAndFutureJobs(job);
    }

    /** Returns the rows of Arrow streams. file: the start of their names; schema: Spark's, as JSON; bytes: about how many. */
    private static Dataset source(SparkSession session, String file, String schema, int partitions, boolean isChanging, long bytes) {
        Option statistics = Option.apply(Statistics$.MODULE$.apply(
            BigInt.apply(bytes), Statistics$.MODULE$.apply$default$2(), Statistics$.MODULE$.apply$default$3(), false
        ));
        SparkRows rows = new SparkRows(session.sparkContext(), file, partitions, isChanging);
        Partitioning partitioning = partitions == 1 ? (Partitioning) SinglePartition$.MODULE$ : new UnknownPartitioning(partitions);
        LogicalPlan plan = new LogicalRDD(
            DataTypeUtils.toAttributes((StructType) DataType.fromJson(schema)), rows, partitioning, Nil$.MODULE$, false, Option.empty(),
            session, statistics, Option.empty(), false
        );
        return Dataset.ofRows(session, plan);
    }
}
