package antumbra;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.ValueVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.util.ArrowUtils;
import org.apache.spark.sql.vectorized.ArrowColumnVector;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.util.TaskCompletionListener;
import scala.collection.AbstractIterator;
import scala.collection.immutable.Nil$;
import scala.reflect.ClassTag$;

/**
 * The rows of Arrow streams, one file for each partition, read in place by the task that needs them. Each task opens its file anew, so
 * that a plan which is run again sees what the file has then. Compiled by Janino, as SparkFunctions is.
 */
public final class SparkRows extends RDD {
    private final String file;
    private final int partitionsCount;
    final boolean isChanging;

    /** file: the start of the files' names, which the number of the partition ends; isChanging: the files are written before each run. */
    public SparkRows(SparkContext context, String file, int partitionsCount, boolean isChanging) {
        super(context, Nil$.MODULE$, ClassTag$.MODULE$.apply(InternalRow.class));
        this.file = file;
        this.partitionsCount = partitionsCount;
        this.isChanging = isChanging;
    }

    public Partition[] getPartitions() {
        Partition[] partitions = new Partition[partitionsCount];
        for (int i = 0; i < partitionsCount; i++) partitions[i] = new Part(i);
        return partitions;
    }

    public scala.collection.Iterator compute(Partition partition, TaskContext context) {
        try {
            // Without it a task that is cancelled goes on to its end.
            return new InterruptibleIterator(context, new Rows(file + "_" + partition.index(), context));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    public static final class Part implements Partition {
        private final int number;
        public Part(int number) { this.number = number; }
        public int index() { return number; }
        public int hashCode() { return number; }
        public boolean equals(Object other) { return other instanceof Part && ((Part) other).number == number; }
        public boolean org$apache$spark$Partition$$super$equals(Object other) { return this == other; }
    }

    /** One row at a time, in the same object, as from Spark's own columnar sources. */
    public static final class Rows extends AbstractIterator implements TaskCompletionListener {
        private final BufferAllocator allocator;
        private final ArrowStreamReader reader;
        private final ColumnarBatch batch;
        private Iterator rows;
        /** Of rows with arrays: Spark's lambdas read an element before they ask whether it is null, which arrays in Arrow refuse. */
        private UnsafeProjection copying = null;
        private boolean isClosed = false;

        public Rows(String file, TaskContext context) throws IOException {
            FileInputStream input = new FileInputStream(file);
            allocator = ArrowUtils.rootAllocator().newChildAllocator(file, 0L, Long.MAX_VALUE);
            reader = new ArrowStreamReader(input.getChannel(), allocator);
            context.addTaskCompletionListener((TaskCompletionListener) this);
            VectorSchemaRoot root = reader.getVectorSchemaRoot();
            List vectors = root.getFieldVectors();
            ColumnVector[] columns = new ColumnVector[vectors.size()];
            for (int i = 0; i < columns.length; i++) {
                columns[i] = new ArrowColumnVector((ValueVector) vectors.get(i));
                if (vectors.get(i) instanceof ListVector) copying = UnsafeProjection$.MODULE$.create(ArrowUtils.fromArrowSchema(root.getSchema()));
            }
            batch = new ColumnarBatch(columns);
            rows = batch.rowIterator();
        }

        public boolean hasNext() {
            try {
                while (!rows.hasNext()) {
                    if (isClosed || !reader.loadNextBatch()) return false;
                    batch.setNumRows(reader.getVectorSchemaRoot().getRowCount());
                    rows = batch.rowIterator();
                }
                return true;
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        public Object next() {
            InternalRow row = (InternalRow) rows.next();
            return copying == null ? row : copying.apply(row);
        }

        public void onTaskCompletion(TaskContext context) {
            isClosed = true;
            try {
                reader.close();
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            } finally {
                allocator.close();
            }
        }
    }
}
