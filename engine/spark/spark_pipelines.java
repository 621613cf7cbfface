package antumbra;

import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import org.apache.spark.sql.api.python.PythonSQLUtils;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.execution.arrow.ArrowBatchStreamWriter;
import org.apache.spark.sql.internal.SQLConf;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction0;

/**
 * A whole pipeline in one call from Python: rows from Arrow files into views, SQL over them, and the answer into an Arrow file.
 *
 * What PySpark does for the same in some forty calls, each of which waits its turn for Python's interpreter. Compiled by Janino, as
 * SparkFunctions is: hence no lambdas and no inferred types.
 */
public final class SparkPipelines {
    /** Makes the rows of an Arrow stream known to SQL; schema: Spark's, as JSON. */
    public static void makeView(SparkSession session, String name, String schema, String file) {
        PythonSQLUtils.toDataFrame(PythonSQLUtils.readArrowStreamFromFile(file), schema, session).createOrReplaceTempView(name);
    }

    public static void dropView(SparkSession session, String name) {
        session.catalog().dropTempView(name);
    }

    /**
     * Writes the answer of `sql` into the file called `job` of `folder`, as an Arrow stream. inputs: lines, by turns the name of a view,
     * which is that of its file too, and its schema; these views are gone afterwards. `job` names Spark's jobs, for cancelling.
     */
    public static void run(SparkSession session, String job, String folder, String inputs, String sql) throws IOException {
        session.sparkContext().setJobGroup(job, job, true);
        String[] lines = inputs.isEmpty() ? new String[0] : inputs.split("\n");
        try {
            for (int i = 0; i < lines.length; i += 2) {
                makeView(session, lines[i], lines[i + 1], folder + "/" + lines[i]);
            }
            write(session, session.sql(sql), folder + "/" + job);
        } finally {
            for (int i = 0; i < lines.length; i += 2) dropView(session, lines[i]);
        }
    }

    /** Stops what runs under the name of `job`, and what would follow. */
    public static void cancel(SparkSession session, String job) {
        session.sparkContext().cancelJobGroupAndFutureJobs(job);
    }

    private static void write(SparkSession session, final Dataset rows, String file) throws IOException {
        final QueryExecution execution = rows.queryExecution();
        AbstractFunction0 collecting = new AbstractFunction0() {
            public Object apply() { return rows.toArrowBatchRdd(execution.executedPlan()).collect(); }
        };
        byte[][] batches = (byte[][]) SQLExecution.withNewExecutionId(execution, Option.apply("antumbra"), collecting);
        SQLConf settings = session.sessionState().conf();
        OutputStream output = new BufferedOutputStream(new FileOutputStream(file), 1 << 16);
        try {
            ArrowBatchStreamWriter writer =
                new ArrowBatchStreamWriter(rows.schema(), output, settings.sessionLocalTimeZone(), true, false);
            writer.writeBatches(CollectionConverters.asScala(Arrays.asList(batches).iterator()));
            writer.end();
        } finally {
            output.close();
        }
    }
}
