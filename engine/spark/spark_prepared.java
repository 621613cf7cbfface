package antumbra;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.spark.Dependency;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.plans.logical.HintInfo;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.NO_BROADCAST_HASH$;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.RDDScanExec;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.immutable.Seq;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractFunction2;
import scala.runtime.AbstractPartialFunction;

/**
 * A query that is parsed, analysed and planned once, and executed many times, each time on the rows that its changing inputs have then.
 *
 * Spark keeps what an exchange, a broadcast or a subquery has computed. So an executed plan is run again only where it is proved that
 * none of these stands above a changing input; else each run executes another copy of the plan. Compiled by Janino, as SparkFunctions is.
 */
public final class PreparedQuery {
    /** Operators that compute all of their rows in each run. Of an operator that is not here, nothing is known. */
    private static final Set COMPUTE_ANEW = new HashSet(Arrays.asList(new Object[] {
        "WholeStageCodegenExec", "InputAdapter", "RDDScanExec", "ProjectExec", "FilterExec", "SortExec", "HashAggregateExec",
        "ObjectHashAggregateExec", "SortAggregateExec", "SortMergeJoinExec", "ShuffledHashJoinExec", "BroadcastHashJoinExec",
        "BroadcastNestedLoopJoinExec", "CartesianProductExec", "UnionExec", "ExpandExec", "WindowExec", "WindowGroupLimitExec",
        "LocalLimitExec", "GlobalLimitExec", "TakeOrderedAndProjectExec"
    }));

    private final SparkSession session;
    private final Dataset rows;
    /** Never executed itself. */
    private final SparkPlan planned;
    /** Null where a run needs a copy of the plan. */
    private RDD kept = null;

    /** Whose exchanges have as many partitions as the largest input. */
    private final SQLConf settings;

    public PreparedQuery(SparkSession session, String sql, int partitions) {
        this.session = session;
        settings = session.sessionState().conf().clone();
        settings.setConfString("spark.sql.shuffle.partitions", String.valueOf(partitions));
        rows = session.sql(sql);
        planned = rows.queryExecution().sparkPlan();
    }

    public StructType schema() { return rows.schema(); }

    public boolean isKept() { return kept != null; }

    /** Returns the batches of the rows in Arrow, as Spark's jobs of this thread. */
    public byte[][] collect() {
        if (kept != null) {
            return (byte[][]) SQLExecution.withSQLConfPropagated(session, new Collecting(kept));
        }
        QueryExecution execution = rows.queryExecution();
        final SparkPlan executed = prepared(execution);
        AbstractFunction0 collecting = new AbstractFunction0() {
            public Object apply() {
                RDD batches = rows.toArrowBatchRdd(executed);
                Object found = collected(batches);
                if (computesAnew(executed) && computesAnew(batches, new IdentityHashMap())) kept = batches;
                return found;
            }
        };
        return (byte[][]) SQLExecution.withNewExecutionId(execution, Option.apply("antumbra"), collecting);
    }

    /** Returns a copy of the plan with exchanges, subqueries and generated code of its own. */
    private SparkPlan prepared(final QueryExecution execution) {
        SparkSession.setActiveSession(session);
        return (SparkPlan) SQLConf.withExistingConf(settings, new AbstractFunction0() {
            public Object apply() {
                SparkPlan plan = (SparkPlan) planned.clone();
                Iterator rules = execution.preparations().iterator();
                while (rules.hasNext()) plan = (SparkPlan) ((Rule) rules.next()).apply(plan);
                return plan;
            }
        });
    }

    /** Tells whether all that is above a changing input in a plan computes its rows in each run. */
    static boolean computesAnew(SparkPlan plan) {
        if (!isChanging(plan)) return true;
        if (!COMPUTE_ANEW.contains(plan.getClass().getSimpleName())) return false;
        Iterator subqueries = plan.subqueries().iterator();
        while (subqueries.hasNext()) {
            if (isChanging((SparkPlan) subqueries.next())) return false;
        }
        Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            if (!computesAnew((SparkPlan) children.next())) return false;
        }
        return true;
    }

    /** Tells whether a plan, or a subquery in it, reads a changing input. */
    static boolean isChanging(SparkPlan plan) {
        if (plan instanceof RDDScanExec) return isChanging(((RDDScanExec) plan).rdd(), new IdentityHashMap());
        return anyChanging(plan.children()) || anyChanging(plan.subqueries());
    }

    private static boolean anyChanging(Seq plans) {
        Iterator each = plans.iterator();
        while (each.hasNext()) {
            if (isChanging((SparkPlan) each.next())) return true;
        }
        return false;
    }

    /** Tells whether no shuffle and no cache stands above a changing input in what executes a plan; some operators shuffle by themselves. */
    static boolean computesAnew(RDD rows, Map seen) {
        if (seen.put(rows, rows) != null) return true;
        if (rows.getStorageLevel().isValid() && isChanging(rows, new IdentityHashMap())) return false;
        Iterator each = rows.dependencies().iterator();
        while (each.hasNext()) {
            Dependency dependency = (Dependency) each.next();
            RDD below = dependency.rdd();
            if (dependency instanceof ShuffleDependency && isChanging(below, new IdentityHashMap())) return false;
            if (!computesAnew(below, seen)) return false;
        }
        return true;
    }

    private static boolean isChanging(RDD rows, Map seen) {
        if (seen.put(rows, rows) != null) return false;
        if (rows instanceof SparkRows) return ((SparkRows) rows).isChanging;
        Iterator each = rows.dependencies().iterator();
        while (each.hasNext()) {
            if (isChanging(((Dependency) each.next()).rdd(), seen)) return true;
        }
        return false;
    }

    /**
     * Lets Spark broadcast nothing that reads a changing input, which a plan would keep: where one task reads such inputs, a join needs no
     * exchange either. It is an optimizer's rule, since a side of a join is known to be small before it is planned.
     */
    public static final class WithoutBroadcasts extends Rule {
        public TreeNode apply(TreeNode plan) { return ((LogicalPlan) plan).transformUp(new Hinting()); }
    }

    private static final class Hinting extends AbstractPartialFunction {
        public boolean isDefinedAt(Object node) { return node instanceof Join; }

        public Object applyOrElse(Object node, Function1 other) {
            if (!isDefinedAt(node)) return other.apply(node);
            Join join = (Join) node;
            Option left = hint(join.left(), join.hint().leftHint()), right = hint(join.right(), join.hint().rightHint());
            return join.copy(join.left(), join.right(), join.joinType(), join.condition(), new JoinHint(left, right));
        }

        private static Option hint(LogicalPlan side, Option known) {
            return mostPartitions(side) == 1 ? Option.apply(new HintInfo(Option.apply(NO_BROADCAST_HASH$.MODULE$))) : known;
        }

        /** Returns the largest number of partitions of the changing inputs that a plan reads, 0 without any. */
        private static int mostPartitions(LogicalPlan plan) {
            if (plan instanceof LogicalRDD && isChanging(((LogicalRDD) plan).rdd(), new IdentityHashMap())) {
                return ((LogicalRDD) plan).rdd().getNumPartitions();
            }
            return Math.max(mostPartitions(plan.children()), mostPartitions(plan.subqueries()));
        }

        private static int mostPartitions(Seq plans) {
            int most = 0;
            Iterator each = plans.iterator();
            while (each.hasNext()) most = Math.max(most, mostPartitions((LogicalPlan) each.next()));
            return most;
        }
    }

    private static final class Collecting extends AbstractFunction0 {
        private final RDD batches;
        Collecting(RDD batches) { this.batches = batches; }
        public Object apply() { return collected(batches); }
    }

    /** What collect() does, whose function Spark looks through for each job, in the code of its class. */
    private static byte[][] collected(RDD batches) {
        byte[][][] parts = (byte[][][]) batches.context().runJob(batches, new Batches(), ClassTag$.MODULE$.apply(byte[][].class));
        ArrayList all = new ArrayList();
        for (int i = 0; i < parts.length; i++) all.addAll(Arrays.asList((Object[]) parts[i]));
        return (byte[][]) all.toArray(new byte[0][]);
    }

    /** The batches of a partition. */
    public static final class Batches extends AbstractFunction2 implements Serializable {
        public Object apply(Object task, Object batches) { return ((Iterator) batches).toArray(ClassTag$.MODULE$.apply(byte[].class)); }
    }
}
