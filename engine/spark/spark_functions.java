package antumbra;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.api.java.UDF3;
import org.apache.spark.sql.api.java.UDF4;

/**
 * The functions that Spark's SQL of ours calls beyond Spark's own: keys, sums and quotients of numerics whose scale differs by value.
 *
 * Such a numeric is a row (unscaled, scale); functions.py has their names and types. Spark's own compiler (Janino) compiles this text
 * when the runtime starts, so there is neither a JDK nor a binary to ship; hence no lambdas and no inferred types. Errors carry their
 * SQLSTATE in the message, between the mark and "(end)".
 */
public final class SparkFunctions {
    static final int DIGITS_MAX = 38;
    static final BigInteger UNSCALED_LIMIT = BigInteger.TEN.pow(DIGITS_MAX);
    static final BigInteger KEY_PART = BigInteger.TEN.pow(19);

    public static final class Function1 implements UDF1 {
        private final String name;
        public Function1(String name) { this.name = name; }
        public Object call(Object a) { return apply(name, new Object[] {a}); }
    }

    public static final class Function2 implements UDF2 {
        private final String name;
        public Function2(String name) { this.name = name; }
        public Object call(Object a, Object b) { return apply(name, new Object[] {a, b}); }
    }

    public static final class Function3 implements UDF3 {
        private final String name;
        public Function3(String name) { this.name = name; }
        public Object call(Object a, Object b, Object c) { return apply(name, new Object[] {a, b, c}); }
    }

    public static final class Function4 implements UDF4 {
        private final String name;
        public Function4(String name) { this.name = name; }
        public Object call(Object a, Object b, Object c, Object d) { return apply(name, new Object[] {a, b, c, d}); }
    }

    static RuntimeException error(String sqlstate, String message) {
        return new IllegalArgumentException("antumbra error " + sqlstate + ": " + message + " (end)");
    }

    /** Strict. */
    static Object apply(String name, Object[] a) {
        for (int i = 0; i < a.length; i++) {
            if (a[i] == null) return null;
        }
        switch (name) {
            case "numeric_pack": return row(((BigDecimal) a[0]).setScale(((Integer) a[1]).intValue(), RoundingMode.UNNECESSARY));
            case "numeric_quotient": return isSpecial(a[0]) ? a[0] : row(divide(numeric(a[0]), BigDecimal.valueOf(((Long) a[1]).longValue())));
            case "numeric_key": return isSpecial(a[0]) ? specialKey(rank(a[0])) : key(numeric(a[0]));
            case "numeric_part": return key(isSpecial(a[0]) ? BigDecimal.ZERO : numeric(a[0]));
            case "numeric_marks": return Long.valueOf(isSpecial(a[0]) ? specialMark(rank(a[0])) : 1L << ((Row) a[0]).getShort(1));
            case "numeric_total": return total(a);
            case "float8_total": return Double.valueOf(floatTotal(((Double) a[0]).doubleValue(), ((Double) a[1]).doubleValue(), ((Boolean) a[2]).booleanValue()));
            default: throw new IllegalStateException(name);
        }
    }

    static BigDecimal numeric(Object row) {
        Row r = (Row) row;
        return new BigDecimal(r.getDecimal(0).toBigInteger(), r.getShort(1));
    }

    static Row row(BigDecimal value) {
        BigDecimal v = value.scale() < 0 ? value.setScale(0) : value;
        if (v.scale() > DIGITS_MAX || v.unscaledValue().abs().compareTo(UNSCALED_LIMIT) >= 0) {
            throw error("22003", "value overflows numeric format");
        }
        return RowFactory.create(new Object[] {new BigDecimal(v.unscaledValue()), Short.valueOf((short) v.scale())});
    }

    /** PostgreSQL's select_div_scale: at least 16 significant digits, counted in weights of base 10,000. */
    static BigDecimal divide(BigDecimal left, BigDecimal right) {
        if (right.signum() == 0) throw error("22012", "division by zero");
        int weight = weight(left) - weight(right);
        if (leadingDigit(left).compareTo(leadingDigit(right)) <= 0) weight--;
        int scale = Math.max(Math.max(16 - weight * 4, 0), Math.max(left.scale(), right.scale()));
        return left.divide(right, scale, RoundingMode.HALF_UP);
    }

    static int weight(BigDecimal value) {
        return value.signum() == 0 ? 0 : Math.floorDiv(value.precision() - value.scale() - 1, 4);
    }

    static BigInteger leadingDigit(BigDecimal value) {
        return value.abs().movePointLeft(4 * weight(value)).toBigInteger();
    }

    static Row key(BigDecimal value) {
        BigInteger whole = value.toBigInteger();
        BigInteger fraction = value.subtract(new BigDecimal(whole)).movePointRight(DIGITS_MAX).toBigInteger();
        BigInteger[] halves = fraction.divideAndRemainder(KEY_PART);
        return RowFactory.create(new Object[] {new BigDecimal(whole), new BigDecimal(halves[0]), new BigDecimal(halves[1])});
    }

    /** The sum of what has the marks a[3], a bit each: scales, or -Infinity, Infinity and NaN from bit 40 on. */
    static Row total(Object[] a) {
        long marks = ((Long) a[3]).longValue();
        if (marks >= 1L << 40) return special((marks & 1L << 42) != 0 || marks >> 40 == 3 ? NAN : marks >> 40 == 1 ? -1 : 1);
        int scale = 63 - Long.numberOfLeadingZeros(marks);
        BigInteger unscaled = ((BigDecimal) a[0]).toBigInteger().multiply(KEY_PART).add(((BigDecimal) a[1]).toBigInteger());
        unscaled = unscaled.multiply(KEY_PART).add(((BigDecimal) a[2]).toBigInteger());
        return row(new BigDecimal(unscaled, DIGITS_MAX).setScale(scale, RoundingMode.UNNECESSARY));
    }

    static double floatTotal(double value, double largest, boolean allSigned) {
        if (Double.isInfinite(value) && !Double.isInfinite(largest)) throw error("22003", "value out of range: overflow");
        return value == 0 && allSigned ? -0.0 : value;
    }

    // NaN and the infinities: (rank, -1), as sql/values/special_numbers.py has them

    static final int NAN = 2;

    static boolean isSpecial(Object row) {
        return ((Row) row).getShort(1) < 0;
    }

    static Row special(int rank) {
        return RowFactory.create(new Object[] {BigDecimal.valueOf(rank), Short.valueOf((short) -1)});
    }

    static int rank(Object row) {
        return ((Row) row).getDecimal(0).intValue();
    }

    /** Before the keys of all numbers, or after them. */
    static Row specialKey(int rank) {
        BigDecimal most = new BigDecimal(UNSCALED_LIMIT.subtract(BigInteger.ONE));
        return RowFactory.create(new Object[] {rank < 0 ? most.negate() : most, BigDecimal.valueOf(rank), BigDecimal.ZERO});
    }

    static long specialMark(int rank) {
        return rank == NAN ? 1L << 42 : rank > 0 ? 1L << 41 : 1L << 40;
    }
}
