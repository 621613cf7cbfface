package antumbra;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.IsoFields;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.api.java.UDF3;
import org.apache.spark.sql.api.java.UDF4;

/**
 * The functions that Spark's SQL of ours calls beyond Spark's own: the twin of functions.py, with PostgreSQL's meaning and errors.
 *
 * Spark's own compiler (Janino) compiles this text when the runtime starts, so there is neither a JDK nor a binary to ship; hence no
 * lambdas and no inferred types. A numeric whose scale differs by value is a row (unscaled, scale). Errors carry their SQLSTATE in the
 * message, between the mark and "(end)".
 */
public final class SparkFunctions {
    static final int DIGITS_MAX = 38;
    static final int TEXT_LENGTH_MAX = 64 * 1024 * 1024;
    static final BigInteger UNSCALED_LIMIT = BigInteger.TEN.pow(DIGITS_MAX);
    static final BigInteger KEY_PART = BigInteger.TEN.pow(19);
    static final long SECOND_US = 1000000L;
    static final long DAY_US = 86400L * SECOND_US;
    static final Pattern INTEGER = Pattern.compile("[+-]?[0-9]+");
    static final Pattern DECIMAL = Pattern.compile("[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?");
    static final Pattern FIXED_ZONE = Pattern.compile("(?:<[^<>]*>|[A-Za-z]*)([+-]?)([0-9]{1,3})(?::([0-9]{1,2}))?(?::([0-9]{1,2}))?");
    static final Pattern SPECIAL = Pattern.compile("(?i)([+-]?inf(inity)?|nan)");

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

    /** Strict but for the two that ignore NULLs, and for a sum without infinite values. */
    static Object apply(String name, Object[] a) {
        if (name.equals("numeric_greatest") || name.equals("numeric_least")) {
            if (a[0] == null) return a[1];
            if (a[1] == null) return a[0];
        } else {
            for (int i = 0; i < a.length; i++) {
                if (a[i] == null) return null;
            }
        }
        if (name.startsWith("numeric_")) return numericFunction(name, a);
        if (name.equals("float8_aggregate")) return aggregate((scala.collection.Seq) a[0], (scala.collection.Seq) a[1], (String) a[2]);
        if (name.startsWith("int4_") && a[0] instanceof Integer) return int4Function(name, a);
        if (name.startsWith("int8_") && a[0] instanceof Long) return int8Function(name, a);
        if (name.startsWith("float8_") && a[0] instanceof Double) return float8Function(name, a);
        if (name.startsWith("float4_") && a[0] instanceof Number) return float4Function(name, a);
        if (name.startsWith("text_")) return textFunction(name, a);
        if (name.endsWith("_from_text")) return fromText(name, (String) a[0]);
        return timeFunction(name, a);
    }

    // Numerics

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

    static Object numericFunction(String name, Object[] a) {
        for (int i = 0; i < a.length; i++) {
            if (a[i] instanceof Row && isSpecial(a[i])) return specialFunction(name, a);
        }
        switch (name) {
            case "numeric_pack": return row(((BigDecimal) a[0]).setScale(((Integer) a[1]).intValue(), RoundingMode.UNNECESSARY));
            case "numeric_at_scale": return row0(numeric(a[0]).setScale(((Integer) a[1]).intValue(), RoundingMode.HALF_UP));
            case "numeric_add": return row(numeric(a[0]).add(numeric(a[1])));
            case "numeric_subtract": return row(numeric(a[0]).subtract(numeric(a[1])));
            case "numeric_multiply": return row(numeric(a[0]).multiply(numeric(a[1])));
            case "numeric_divide": return row(divide(numeric(a[0]), numeric(a[1])));
            case "numeric_quotient": return row(divide(numeric(a[0]), BigDecimal.valueOf(((Long) a[1]).longValue())));
            case "numeric_modulo": return row(modulo(numeric(a[0]), numeric(a[1])));
            case "numeric_negate": return row(numeric(a[0]).negate());
            case "numeric_abs": return row(numeric(a[0]).abs());
            case "numeric_round": return row(rounded(numeric(a[0]), ((Integer) a[1]).intValue(), RoundingMode.HALF_UP));
            case "numeric_trunc": return row(rounded(numeric(a[0]), ((Integer) a[1]).intValue(), RoundingMode.DOWN));
            case "numeric_ceil": return row(numeric(a[0]).setScale(0, RoundingMode.CEILING));
            case "numeric_floor": return row(numeric(a[0]).setScale(0, RoundingMode.FLOOR));
            case "numeric_sign": return row(BigDecimal.valueOf(numeric(a[0]).signum()));
            case "numeric_greatest": return numeric(a[0]).compareTo(numeric(a[1])) >= 0 ? a[0] : a[1];
            case "numeric_least": return numeric(a[0]).compareTo(numeric(a[1])) <= 0 ? a[0] : a[1];
            case "numeric_key": case "numeric_part": return key(numeric(a[0]));
            case "numeric_marks": return Long.valueOf(1L << ((Row) a[0]).getShort(1));
            case "numeric_finite": return a[0];
            case "numeric_scale": return Short.valueOf(((Row) a[0]).getShort(1));
            case "numeric_total": return total(a);
            case "numeric_div": return row(modulus(numeric(a[0]), numeric(a[1])));
            case "numeric_gcd": return row(divisor(numeric(a[0]), numeric(a[1]), false));
            case "numeric_lcm": return row(divisor(numeric(a[0]), numeric(a[1]), true));
            case "numeric_trim_scale": return row(trimmed(numeric(a[0])));
            case "numeric_min_scale": return Integer.valueOf(trimmed(numeric(a[0])).scale());
            case "numeric_width_bucket": return bucket(numeric(a[0]), numeric(a[1]), numeric(a[2]), ((Integer) a[3]).intValue());
            case "numeric_variance": return variance(((Long) a[0]).longValue(), numeric(a[1]), numeric(a[2]), (String) a[3]);
            case "numeric_text": return numeric(a[0]).toPlainString();
            case "numeric_from_text": case "numeric_limited_from_text": {
                String text = strip((String) a[0]);
                if (SPECIAL.matcher(text).matches()) return unlimited(floating(text, "numeric", false), a);
                return limited(decimalFromText(text, (String) a[0]), a);
            }
            case "numeric_from_float8": case "numeric_limited_from_float8": return fromDouble(((Double) a[0]).doubleValue(), 15, a);
            case "numeric_from_float4": case "numeric_limited_from_float4": return fromDouble(((Float) a[0]).doubleValue(), 6, a);
            default: throw new IllegalStateException(name);
        }
    }

    /** The quotient cut to an integer. */
    static BigDecimal modulus(BigDecimal left, BigDecimal right) {
        if (right.signum() == 0) throw error("22012", "division by zero");
        return left.divideToIntegralValue(right).setScale(0, RoundingMode.DOWN);
    }

    static BigDecimal divisor(BigDecimal left, BigDecimal right, boolean multiple) {
        int scale = Math.max(left.scale(), right.scale());
        BigInteger x = left.setScale(scale).unscaledValue();
        BigInteger y = right.setScale(scale).unscaledValue();
        BigInteger common = x.gcd(y);
        if (!multiple) return new BigDecimal(common, scale);
        if (common.signum() == 0) return new BigDecimal(BigInteger.ZERO, scale);
        return new BigDecimal(x.divide(common).multiply(y).abs(), scale);
    }

    static BigDecimal trimmed(BigDecimal value) {
        if (value.signum() == 0) return BigDecimal.ZERO;
        BigDecimal stripped = value.stripTrailingZeros();
        return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
    }

    static Integer bucket(BigDecimal value, BigDecimal low, BigDecimal high, int count) {
        if (count <= 0) throw error("2201G", "count must be greater than zero");
        int order = low.compareTo(high);
        if (order == 0) throw error("2201G", "lower bound cannot equal upper bound");
        BigDecimal sign = BigDecimal.valueOf(order < 0 ? 1 : -1);
        BigDecimal v = value.multiply(sign);
        BigDecimal start = low.multiply(sign);
        BigDecimal end = high.multiply(sign);
        if (v.compareTo(start) < 0) return Integer.valueOf(0);
        if (v.compareTo(end) >= 0) return after(count);
        BigDecimal place = v.subtract(start).multiply(BigDecimal.valueOf(count)).divideToIntegralValue(end.subtract(start));
        return Integer.valueOf(place.intValue() + 1);
    }

    static Integer after(int count) {
        if (count == Integer.MAX_VALUE) throw error("22003", "integer out of range");
        return Integer.valueOf(count + 1);
    }

    /** var_pop and its like from the count, the sum and the sum of squares, as numeric_stddev_internal makes them. */
    static Object variance(long count, BigDecimal total, BigDecimal squares, String name) {
        boolean sample = name.endsWith("samp");
        if (count <= (sample ? 1 : 0)) return null;
        BigDecimal n = BigDecimal.valueOf(count);
        BigDecimal numerator = n.multiply(squares).subtract(total.multiply(total));
        if (numerator.signum() <= 0) return row(BigDecimal.ZERO);
        BigDecimal found = divide(numerator, n.multiply(BigDecimal.valueOf(sample ? count - 1 : count)));
        if (name.startsWith("var")) return row(found);
        return row(found.sqrt(new MathContext(120, RoundingMode.HALF_UP)).setScale(found.scale(), RoundingMode.HALF_UP));
    }

    /** A numeric as it is, or at the scale of numeric(p,s) if p and s follow in a; the caller checks the digits. */
    static Row limited(BigDecimal value, Object[] a) {
        return row(a.length == 1 ? value : value.setScale(((Integer) a[2]).intValue(), RoundingMode.HALF_UP));
    }

    /** NaN or an infinity as a numeric, which numeric(p,s) has no room for. */
    static Row unlimited(double value, Object[] a) {
        if (a.length > 1) throw noRoom(exact(value), "numeric(" + a[1] + "," + a[2] + ")");
        return exact(value);
    }

    static String row0(BigDecimal value) {
        row(value);
        return value.toPlainString();
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

    static BigDecimal modulo(BigDecimal left, BigDecimal right) {
        if (right.signum() == 0) throw error("22012", "division by zero");
        return left.remainder(right).setScale(Math.max(left.scale(), right.scale()));
    }

    static BigDecimal rounded(BigDecimal value, int digits, RoundingMode mode) {
        BigDecimal result = value.setScale(digits, mode);
        return digits < 0 ? result.setScale(0) : result;
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

    static BigDecimal decimalFromText(String stripped, String text) {
        if (!DECIMAL.matcher(stripped).matches()) throw invalid("numeric", text);
        return new BigDecimal(stripped);
    }

    static Row fromDouble(double value, int digits, Object[] a) {
        if (Double.isNaN(value) || Double.isInfinite(value)) return unlimited(value, a);
        return limited(new BigDecimal(value).round(new MathContext(digits, RoundingMode.HALF_EVEN)).stripTrailingZeros(), a);
    }

    // NaN and the infinities: (rank, -1), as sql/values/special_numbers.py has them

    static final int NAN = 2;

    static boolean isSpecial(Object row) {
        return ((Row) row).getShort(1) < 0;
    }

    static Row special(int rank) {
        return RowFactory.create(new Object[] {BigDecimal.valueOf(rank), Short.valueOf((short) -1)});
    }

    /** The rank; of a finite number its sign. */
    static int rank(Object row) {
        return isSpecial(row) ? ((Row) row).getDecimal(0).intValue() : numeric(row).signum();
    }

    /** What arithmetic needs to know: NaN, an infinity, or a finite number's sign. */
    static double approximate(Object row) {
        if (!isSpecial(row)) return numeric(row).signum();
        return rank(row) == NAN ? Double.NaN : rank(row) > 0 ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY;
    }

    static Row exact(double value) {
        if (Double.isNaN(value)) return special(NAN);
        return Double.isInfinite(value) ? special(value > 0 ? 1 : -1) : row(BigDecimal.valueOf((long) value));
    }

    static String specialText(Object row) {
        return rank(row) == NAN ? "NaN" : rank(row) > 0 ? "Infinity" : "-Infinity";
    }

    static RuntimeException noRoom(Object row, String type) {
        if (rank(row) == NAN) return error("0A000", "NaN as " + type + " is not supported yet (hint) A plain numeric can be NaN.");
        String[] parts = type.substring("numeric(".length(), type.length() - 1).split(",");
        String field = "A field with precision " + parts[0] + ", scale " + parts[1];
        return error("22003", "numeric field overflow (detail) " + field + " cannot hold an infinite value.");
    }

    /** A function of which one operand is NaN or an infinity. */
    static Object specialFunction(String name, Object[] a) {
        double x = a[0] instanceof Row ? approximate(a[0]) : 0;
        double y = a.length > 1 && a[1] instanceof Row ? approximate(a[1]) : 0;
        boolean nan = Double.isNaN(x) || Double.isNaN(y);
        switch (name) {
            case "numeric_add": return exact(x + y);
            case "numeric_subtract": return exact(x - y);
            case "numeric_multiply": return exact(x * y);
            case "numeric_quotient": return a[0];
            case "numeric_divide": case "numeric_div":
                if (!nan && y == 0) throw error("22012", "division by zero");
                return exact(x / y);
            case "numeric_modulo":
                if (!nan && y == 0) throw error("22012", "division by zero");
                return nan || Double.isInfinite(x) ? special(NAN) : a[0];
            case "numeric_negate": return exact(-x);
            case "numeric_abs": return exact(Math.abs(x));
            case "numeric_sign": return exact(Double.isNaN(x) ? x : Math.signum(x));
            case "numeric_round": case "numeric_trunc": case "numeric_ceil": case "numeric_floor": case "numeric_trim_scale": return a[0];
            case "numeric_greatest": return order(a[0]) >= order(a[1]) ? a[0] : a[1];
            case "numeric_least": return order(a[0]) <= order(a[1]) ? a[0] : a[1];
            case "numeric_key": {
                BigDecimal most = new BigDecimal(UNSCALED_LIMIT.subtract(BigInteger.ONE));
                BigDecimal end = rank(a[0]) < 0 ? most.negate() : most;
                return RowFactory.create(new Object[] {end, BigDecimal.valueOf(rank(a[0])), BigDecimal.ZERO});
            }
            case "numeric_part": return key(BigDecimal.ZERO);
            case "numeric_marks": return Long.valueOf(rank(a[0]) == NAN ? 1L << 42 : rank(a[0]) > 0 ? 1L << 41 : 1L << 40);
            case "numeric_scale": case "numeric_min_scale": return null;
            case "numeric_gcd": case "numeric_lcm": return special(NAN);
            case "numeric_variance": return ((Long) a[0]).longValue() <= (((String) a[3]).endsWith("samp") ? 1 : 0) ? null : special(NAN);
            case "numeric_width_bucket": return specialBucket(a);
            case "numeric_text": return specialText(a[0]);
            case "numeric_at_scale": throw error("0A000", specialText(a[0]) + " as a numeric of known scale is not supported yet");
            case "numeric_finite":
                if (((String) a[1]).startsWith("numeric")) throw noRoom(a[0], (String) a[1]);
                throw error("0A000", "cannot convert " + (rank(a[0]) == NAN ? "NaN" : "infinity") + " to " + a[1]);
            default: throw new IllegalStateException(name);
        }
    }

    /** The place among special values, 0 of all finite ones. */
    static int order(Object row) {
        return isSpecial(row) ? rank(row) : 0;
    }

    static Integer specialBucket(Object[] a) {
        int count = ((Integer) a[3]).intValue();
        if (count <= 0) throw error("2201G", "count must be greater than zero");
        for (int i = 0; i < 3; i++) {
            if (rank(a[i]) == NAN) throw error("2201G", "operand, lower bound, and upper bound cannot be NaN");
        }
        if (isSpecial(a[1]) || isSpecial(a[2])) throw error("2201G", "lower and upper bounds must be finite");
        int bounds = numeric(a[1]).compareTo(numeric(a[2]));
        if (bounds == 0) throw error("2201G", "lower bound cannot equal upper bound");
        return (rank(a[0]) > 0) != (bounds < 0) ? Integer.valueOf(0) : after(count);
    }

    // Floats

    static double checked(double result, boolean finiteOperands, boolean mayVanish) {
        if (Double.isInfinite(result) && finiteOperands) throw error("22003", "value out of range: overflow");
        if (result == 0 && mayVanish) throw error("22003", "value out of range: underflow");
        return result;
    }

    /** An aggregate of floats by PostgreSQL's own steps: the twin of ringbuffer/groups/float_frames.py. */
    static Object aggregate(scala.collection.Seq ys, scala.collection.Seq xs, String name) {
        boolean plain = name.equals("sum") || name.equals("real_sum");
        boolean squares = name.equals("avg") || name.startsWith("var_") || name.startsWith("stddev_");
        double n = 0, sx = 0, sxx = 0, sy = 0, syy = 0, sxy = 0;
        scala.collection.Iterator left = ys.iterator(), right = xs.iterator();
        while (left.hasNext()) {
            double y = ((Double) left.next()).doubleValue(), x = ((Double) right.next()).doubleValue();
            double before = n, wasX = sx, wasY = sy;
            n = n + 1;
            sx = plain && before == 0 ? x : sx + x;
            sy = sy + y;
            if (name.equals("real_sum")) sx = (double) (float) sx;
            boolean fineX = !Double.isInfinite(wasX) && !Double.isInfinite(x);
            boolean fineY = !Double.isInfinite(wasY) && !Double.isInfinite(y);
            if (plain) {
                checked(sx, fineX, false);
            } else if (before == 0) {
                sxx = Double.isInfinite(x) || Double.isNaN(x) ? Double.NaN : 0;
                syy = Double.isInfinite(y) || Double.isNaN(y) ? Double.NaN : 0;
                sxy = sxx + syy;
            } else if (squares) {
                double offX = x * n - sx;
                sxx = sxx + offX * offX / (n * before);
                checked(sx, fineX, false);
                sxx = finite(checked(sxx, fineX, false));
                if (Double.isInfinite(sx)) sxx = Double.NaN;
            } else {
                double offX = x * n - sx, offY = y * n - sy, scale = 1.0 / (n * before);
                sxx = sxx + offX * offX * scale;
                syy = syy + offY * offY * scale;
                sxy = sxy + offX * offY * scale;
                checked(sx, fineX, false);
                checked(sy, fineY, false);
                sxx = finite(checked(sxx, fineX, false));
                syy = finite(checked(syy, fineY, false));
                sxy = finite(checked(sxy, fineX && fineY, false));
            }
        }
        if (n <= (name.endsWith("_samp") ? 1 : 0)) return null;
        return result(name, n, sx, sxx, sy, syy, sxy);
    }

    static double finite(double value) {
        return Double.isInfinite(value) ? Double.NaN : value;
    }

    static Object result(String name, double n, double sx, double sxx, double sy, double syy, double sxy) {
        switch (name) {
            case "sum": case "real_sum": return Double.valueOf(sx);
            case "avg": case "regr_avgx": return Double.valueOf(sx / n);
            case "regr_avgy": return Double.valueOf(sy / n);
            case "var_pop": return Double.valueOf(sxx / n);
            case "var_samp": return Double.valueOf(sxx / (n - 1));
            case "stddev_pop": return Double.valueOf(Math.sqrt(sxx / n));
            case "stddev_samp": return Double.valueOf(Math.sqrt(sxx / (n - 1)));
            case "covar_pop": return Double.valueOf(sxy / n);
            case "covar_samp": return Double.valueOf(sxy / (n - 1));
            case "regr_sxx": return Double.valueOf(sxx);
            case "regr_syy": return Double.valueOf(syy);
            case "regr_sxy": return Double.valueOf(sxy);
        }
        if (sxx == 0) return null;
        switch (name) {
            case "corr": return syy == 0 ? null : Double.valueOf(sxy / Math.sqrt(sxx * syy));
            case "regr_r2": return Double.valueOf(syy == 0 ? 1 : (sxy * sxy) / (sxx * syy));
            case "regr_slope": return Double.valueOf(sxy / sxx);
            case "regr_intercept": return Double.valueOf((sy - sx * sxy / sxx) / n);
        }
        throw new IllegalArgumentException(name);
    }

    static Object float8Function(String name, Object[] a) {
        double x = ((Double) a[0]).doubleValue();
        double y = a.length > 1 && a[1] instanceof Double ? ((Double) a[1]).doubleValue() : 0;
        boolean finite = !Double.isInfinite(x) && !Double.isInfinite(y);
        switch (name) {
            case "float8_add": return Double.valueOf(checked(x + y, finite, false));
            case "float8_subtract": return Double.valueOf(checked(x - y, finite, false));
            case "float8_multiply": return Double.valueOf(checked(x * y, finite, x != 0 && y != 0));
            case "float8_divide":
                if (y == 0 && !Double.isNaN(x)) throw error("22012", "division by zero");
                return Double.valueOf(checked(x / y, finite, x != 0 && !Double.isInfinite(y)));
            case "float8_total": return Double.valueOf(checked(x, !((Boolean) a[1]).booleanValue(), false));
            case "float8_sqrt":
                if (x < 0) throw error("2201F", "cannot take square root of a negative number");
                return Double.valueOf(Math.sqrt(x));
            case "float8_ln":
                if (x == 0) throw error("2201E", "cannot take logarithm of zero");
                if (x < 0) throw error("2201E", "cannot take logarithm of a negative number");
                return Double.valueOf(Math.log(x));
            case "float8_exp": return Double.valueOf(checked(Math.exp(x), finite, finite));
            case "float8_power": return Double.valueOf(power(x, y));
            case "float8_ceil": return Double.valueOf(Math.ceil(x));
            case "float8_floor": return Double.valueOf(Math.floor(x));
            case "float8_trunc": return Double.valueOf(x < 0 ? Math.ceil(x) : Math.floor(x));
            case "float8_sign": return Double.valueOf(x > 0 ? 1 : x < 0 ? -1 : 0);
            case "float8_text": return floatText(x, false);
            case "float8_log10":
                if (x == 0) throw error("2201E", "cannot take logarithm of zero");
                if (x < 0) throw error("2201E", "cannot take logarithm of a negative number");
                return Double.valueOf(Math.log10(x));
            case "float8_cbrt": return Double.valueOf(Math.cbrt(x));
            case "float8_degrees": return Double.valueOf(checked(x / 0.0174532925199432957692, finite, false));
            case "float8_sin": return Double.valueOf(Math.sin(angle(x)));
            case "float8_cos": return Double.valueOf(Math.cos(angle(x)));
            case "float8_tan": return Double.valueOf(Math.tan(angle(x)));
            case "float8_cot": return Double.valueOf(1.0 / Math.tan(angle(x)));
            case "float8_asin": return Double.valueOf(Math.asin(sine(x)));
            case "float8_acos": return Double.valueOf(Math.acos(sine(x)));
            case "float8_sinh": return Double.valueOf(Math.sinh(x));
            case "float8_cosh": return Double.valueOf(Math.cosh(x));
            case "float8_width_bucket": return floatBucket(x, y, ((Double) a[2]).doubleValue(), ((Integer) a[3]).intValue());
            default: throw new IllegalStateException(name);
        }
    }

    static double angle(double x) {
        if (Double.isInfinite(x)) throw error("22003", "input is out of range");
        return x;
    }

    static double sine(double x) {
        if (x < -1 || x > 1) throw error("22003", "input is out of range");
        return x;
    }

    static Integer floatBucket(double value, double low, double high, int count) {
        if (count <= 0) throw error("2201G", "count must be greater than zero");
        if (Double.isNaN(value) || Double.isNaN(low) || Double.isNaN(high)) {
            throw error("2201G", "operand, lower bound, and upper bound cannot be NaN");
        }
        if (Double.isInfinite(low) || Double.isInfinite(high)) throw error("2201G", "lower and upper bounds must be finite");
        if (low == high) throw error("2201G", "lower bound cannot equal upper bound");
        boolean down = low > high;
        if (down ? value > low : value < low) return Integer.valueOf(0);
        if (down ? value <= high : value >= high) return after(count);
        double share = down ? (low - value) / (low - high) : (value - low) / (high - low);
        return Integer.valueOf(Math.min((int) (count * share), count - 1) + 1);
    }

    static Object int4Function(String name, Object[] a) {
        int x = ((Integer) a[0]).intValue();
        if (name.equals("int4_to_hex")) return Integer.toHexString(x);
        BigInteger found = common(BigInteger.valueOf(x), BigInteger.valueOf(((Integer) a[1]).intValue()), name.equals("int4_lcm"));
        if (found.bitLength() > 31) throw error("22003", "integer out of range");
        return Integer.valueOf(found.intValue());
    }

    static Object int8Function(String name, Object[] a) {
        long x = ((Long) a[0]).longValue();
        if (name.equals("int8_to_hex")) return Long.toHexString(x);
        BigInteger found = common(BigInteger.valueOf(x), BigInteger.valueOf(((Long) a[1]).longValue()), name.equals("int8_lcm"));
        if (found.bitLength() > 63) throw error("22003", "bigint out of range");
        return Long.valueOf(found.longValue());
    }

    static BigInteger common(BigInteger x, BigInteger y, boolean multiple) {
        BigInteger found = x.gcd(y);
        if (!multiple || found.signum() == 0) return found;
        return x.divide(found).multiply(y).abs();
    }

    static double power(double x, double y) {
        boolean finite = !Double.isInfinite(x) && !Double.isInfinite(y);
        if (x == 0 && y < 0) throw error("2201F", "zero raised to a negative power is undefined");
        if (x < 0 && !Double.isInfinite(y) && y != Math.floor(y)) {
            throw error("2201F", "a negative number raised to a non-integer power yields a complex result");
        }
        if (x == 1 || y == 0) return 1;
        return checked(Math.pow(x, y), finite, finite && x != 0);
    }

    static Object float4Function(String name, Object[] a) {
        if (name.equals("float4_from_float8")) {
            double wide = ((Double) a[0]).doubleValue();
            float narrow = (float) wide;
            checked(narrow, !Double.isInfinite(wide), wide != 0);
            return Float.valueOf(narrow);
        }
        float x = ((Float) a[0]).floatValue();
        if (name.equals("float4_text")) return floatText(x, true);
        float y = ((Float) a[1]).floatValue();
        boolean finite = !Float.isInfinite(x) && !Float.isInfinite(y);
        switch (name) {
            case "float4_add": return Float.valueOf((float) checked(x + y, finite, false));
            case "float4_subtract": return Float.valueOf((float) checked(x - y, finite, false));
            case "float4_multiply": return Float.valueOf((float) checked(x * y, finite, x != 0 && y != 0));
            case "float4_divide":
                if (y == 0 && !Float.isNaN(x)) throw error("22012", "division by zero");
                return Float.valueOf((float) checked(x / y, finite, x != 0 && !Float.isInfinite(y)));
            default: throw new IllegalStateException(name);
        }
    }

    /** The fewest digits that read back as the same value, with an exponent below 1e-4 and from 1e15 (a real: 1e6) on. */
    static String floatText(double value, boolean single) {
        if (Double.isNaN(value)) return "NaN";
        if (Double.isInfinite(value)) return value > 0 ? "Infinity" : "-Infinity";
        String sign = value < 0 || (value == 0 && 1 / value < 0) ? "-" : "";
        if (value == 0) return sign + "0";
        BigDecimal exact = new BigDecimal(Math.abs(value));
        BigDecimal shortest = exact;
        for (int digits = 1; digits <= 17; digits++) {
            shortest = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
            boolean same = single ? shortest.floatValue() == (float) Math.abs(value) : shortest.doubleValue() == Math.abs(value);
            if (same) break;
        }
        shortest = shortest.stripTrailingZeros();
        int decade = shortest.precision() - shortest.scale() - 1;
        if (decade >= -4 && decade < (single ? 6 : 15)) return sign + shortest.toPlainString();
        String digits = shortest.unscaledValue().toString();
        String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
        String exponent = Math.abs(decade) < 10 ? "0" + Math.abs(decade) : Integer.toString(Math.abs(decade));
        return sign + digits.charAt(0) + fraction + "e" + (decade < 0 ? "-" : "+") + exponent;
    }

    // Text to values

    static String strip(String text) {
        int start = 0;
        int end = text.length();
        while (start < end && " \t\n\r\f\u000b".indexOf(text.charAt(start)) >= 0) start++;
        while (end > start && " \t\n\r\f\u000b".indexOf(text.charAt(end - 1)) >= 0) end--;
        return text.substring(start, end);
    }

    static RuntimeException invalid(String type, String text) {
        return error("22P02", "invalid input syntax for type " + type + ": \"" + text + "\"");
    }

    static Object fromText(String name, String text) {
        switch (name) {
            case "int2_from_text": return Short.valueOf((short) integer(text, "smallint", 15));
            case "int4_from_text": return Integer.valueOf((int) integer(text, "integer", 31));
            case "int8_from_text": return Long.valueOf(integer(text, "bigint", 63));
            case "float8_from_text": return Double.valueOf(floating(text, "double precision", false));
            case "float4_from_text": return Float.valueOf((float) floating(text, "real", true));
            case "bool_from_text": return truth(text);
            default: throw new IllegalStateException(name);
        }
    }

    static long integer(String text, String type, int bits) {
        String t = strip(text);
        if (!INTEGER.matcher(t).matches()) throw invalid(type, text);
        BigInteger value = new BigInteger(t.startsWith("+") ? t.substring(1) : t);
        if (value.bitLength() > bits) throw error("22003", "value \"" + text + "\" is out of range for type " + type);
        return value.longValue();
    }

    static double floating(String text, String type, boolean single) {
        String t = strip(text);
        if (SPECIAL.matcher(t).matches()) {
            String lower = t.toLowerCase();
            if (lower.equals("nan")) return Double.NaN;
            return lower.startsWith("-") ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
        }
        if (!DECIMAL.matcher(t).matches()) throw invalid(type, text);
        double value = single ? Float.parseFloat(t) : Double.parseDouble(t);
        if (Double.isInfinite(value) || (value == 0 && new BigDecimal(t).signum() != 0)) {
            throw error("22003", "\"" + t + "\" is out of range for type " + type);
        }
        return value;
    }

    static Boolean truth(String text) {
        String t = strip(text).toLowerCase();
        if (t.length() > 0) {
            if ("true".startsWith(t) || "yes".startsWith(t) || t.equals("on") || t.equals("1")) return Boolean.TRUE;
            if ("false".startsWith(t) || "no".startsWith(t) || t.equals("of") || t.equals("off") || t.equals("0")) return Boolean.FALSE;
        }
        throw invalid("boolean", text);
    }

    // Text

    static int length(String text) { return text.codePointCount(0, text.length()); }

    /** The characters from `start` (0-based) up to `end`, both cut to the text. */
    static String part(String text, long start, long end) {
        int size = length(text);
        int from = (int) Math.min(Math.max(start, 0), size);
        int to = (int) Math.min(Math.max(end, from), size);
        return text.substring(text.offsetByCodePoints(0, from), text.offsetByCodePoints(0, to));
    }

    static Object textFunction(String name, Object[] a) {
        if (name.equals("text_character")) return character(((Integer) a[0]).intValue());
        String text = (String) a[0];
        switch (name) {
            case "text_substring": return substring(text, a);
            case "text_left": {
                int count = ((Integer) a[1]).intValue();
                return part(text, 0, count >= 0 ? count : (long) length(text) + count);
            }
            case "text_right": {
                int count = ((Integer) a[1]).intValue();
                return part(text, count >= 0 ? (long) length(text) - count : -(long) count, Integer.MAX_VALUE);
            }
            case "text_strpos": {
                int found = text.indexOf((String) a[1]);
                return Integer.valueOf(found < 0 ? 0 : text.codePointCount(0, found) + 1);
            }
            case "text_repeat": {
                int count = Math.max(((Integer) a[1]).intValue(), 0);
                requireLength((long) text.length() * count);
                return text.repeat(count);
            }
            case "text_lpad": return padded(text, ((Integer) a[1]).intValue(), (String) a[2], true);
            case "text_rpad": return padded(text, ((Integer) a[1]).intValue(), (String) a[2], false);
            case "text_split_part": return splitPart(text, (String) a[1], ((Integer) a[2]).intValue());
            case "text_limit": {
                int limit = ((Integer) a[1]).intValue();
                String rest = part(text, limit, Integer.MAX_VALUE);
                for (int i = 0; i < rest.length(); i++) {
                    if (rest.charAt(i) != ' ') throw error("22001", "value too long for type character varying(" + limit + ")");
                }
                return part(text, 0, limit);
            }
            case "text_initcap": return initcap(text);
            case "text_translate": return translate(text, (String) a[1], (String) a[2]);
            case "text_overlay": return overlay(text, (String) a[1], ((Integer) a[2]).intValue(), ((Integer) a[3]).intValue());
            case "text_overlay_all": return overlay(text, (String) a[1], ((Integer) a[2]).intValue(), length((String) a[1]));
            case "text_ascii": return Integer.valueOf(text.isEmpty() ? 0 : text.codePointAt(0));
            case "text_matches": return Boolean.valueOf(matches(text, (String) a[1]));
            case "text_like": return Boolean.valueOf(like(text, (String) a[1], (String) a[2]));
            default: throw new IllegalStateException(name);
        }
    }

    static String substring(String text, Object[] a) {
        long start = ((Integer) a[1]).intValue();
        long size = ((Integer) a[2]).intValue();
        if (size < 0) throw error("22011", "negative substring length not allowed");
        return part(text, Math.max(start, 1) - 1, Math.max(start + size, 1) - 1);
    }

    static String initcap(String text) {
        StringBuilder out = new StringBuilder(text);
        boolean inside = false;
        for (int i = 0; i < out.length(); i++) {
            char c = out.charAt(i);
            boolean lower = c >= 'a' && c <= 'z';
            boolean upper = c >= 'A' && c <= 'Z';
            if (lower && !inside) out.setCharAt(i, (char) (c - 32));
            if (upper && inside) out.setCharAt(i, (char) (c + 32));
            inside = lower || upper || (c >= '0' && c <= '9');
        }
        return out.toString();
    }

    static String translate(String text, String source, String target) {
        int[] from = source.codePoints().toArray();
        int[] to = target.codePoints().toArray();
        int[] characters = text.codePoints().toArray();
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < characters.length; i++) {
            int place = 0;
            while (place < from.length && from[place] != characters[i]) place++;
            if (place == from.length) out.appendCodePoint(characters[i]);
            else if (place < to.length) out.appendCodePoint(to[place]);
        }
        return out.toString();
    }

    static String overlay(String text, String replacement, int start, int size) {
        if (start <= 0) throw error("22011", "negative substring length not allowed");
        long end = (long) start + size;
        if (end > Integer.MAX_VALUE) throw error("22003", "integer out of range");
        return part(text, 0, start - 1) + replacement + part(text, Math.max(end, 1) - 1, Integer.MAX_VALUE);
    }

    static String character(int number) {
        if (number < 0) throw error("22023", "character number must be positive");
        if (number == 0) throw error("54000", "null character not permitted");
        if (number > 0x10FFFF) throw error("54000", "requested character too large for encoding: " + number);
        if (number >= 0xD800 && number <= 0xDFFF) throw error("54000", "requested character not valid for encoding: " + number);
        return new String(Character.toChars(number));
    }

    static void requireLength(long length) {
        if (length > TEXT_LENGTH_MAX) throw error("54000", "requested length too large");
    }

    static String padded(String text, int length, String fill, boolean left) {
        int missing = Math.max(length, 0) - length(text);
        if (missing <= 0 || fill.isEmpty()) return part(text, 0, Math.max(length, 0));
        requireLength(length);
        String padding = part(fill.repeat(missing / length(fill) + 1), 0, missing);
        return left ? padding + text : text + padding;
    }

    static String splitPart(String text, String separator, int field) {
        if (field == 0) throw error("22023", "field position must not be zero");
        if (text.isEmpty()) return "";
        String[] parts = separator.isEmpty() ? new String[] {text} : text.split(Pattern.quote(separator), -1);
        int index = field > 0 ? field - 1 : parts.length + field;
        return index >= 0 && index < parts.length ? parts[index] : "";
    }

    static final int WILD = -1;

    /** A part between two % is looked for from the left, and its first place is as good as any later one. */
    static boolean like(String text, String pattern, String escape) {
        ArrayList parts = new ArrayList();
        int escapeCharacter = escape.isEmpty() ? -1 : escape.codePointAt(0);
        int[] characters = pattern.codePoints().toArray();
        int[] part = new int[characters.length];
        int size = 0;
        for (int i = 0; i < characters.length; i++) {
            int c = characters[i];
            if (c == escapeCharacter) {
                i++;
                if (i >= characters.length) throw error("22025", "LIKE pattern must not end with escape character");
                part[size++] = characters[i];
            } else if (c == '%') {
                parts.add(Arrays.copyOf(part, size));
                size = 0;
            } else {
                part[size++] = c == '_' ? WILD : c;
            }
        }
        int[] last = Arrays.copyOf(part, size);
        int[] whole = text.codePoints().toArray();
        int end = whole.length - last.length;
        if (parts.isEmpty()) return end == 0 && isAt(whole, 0, last);
        int[] first = (int[]) parts.get(0);
        int place = first.length;
        if (place > end || !isAt(whole, 0, first) || !isAt(whole, end, last)) return false;
        for (int k = 1; k < parts.size(); k++) {
            int[] next = (int[]) parts.get(k);
            while (place + next.length <= end && !isAt(whole, place, next)) place++;
            place += next.length;
            if (place > end) return false;
        }
        return true;
    }

    static boolean isAt(int[] whole, int place, int[] part) {
        for (int i = 0; i < part.length; i++) {
            if (part[i] != WILD && part[i] != whole[place + i]) return false;
        }
        return true;
    }

    static final int AUTOMATA_MAX = 100;
    static final HashMap AUTOMATA = new HashMap();

    static boolean matches(String text, String written) {
        Automaton automaton;
        synchronized (AUTOMATA) {
            automaton = (Automaton) AUTOMATA.get(written);
            if (automaton == null) {
                if (AUTOMATA.size() >= AUTOMATA_MAX) AUTOMATA.clear();
                automaton = new Automaton(written);
                AUTOMATA.put(written, automaton);
            }
        }
        return automaton.matches(text);
    }

    /** What sql/patterns/automaton_text.py writes of a regular expression. A step per character, over at most a few hundred states. */
    static final class Automaton {
        private final String[] numbers;
        private int read = 0;
        private final int[] borders;
        private final int[] classOf;
        private final int words;
        private final long[][] classes;
        private final int[] kinds;
        private final int[] lastConditions;
        private final long[][] last;
        private final int[] moveConditions;
        private final int[] sources;
        private final long[][] targets;
        private final HashMap moves = new HashMap();

        Automaton(String written) {
            numbers = written.split(" ");
            borders = new int[next()];
            for (int i = 0; i < borders.length; i++) borders[i] = next();
            classOf = new int[borders.length];
            for (int i = 0; i < borders.length; i++) classOf[i] = next();
            words = (next() + 63) / 64;
            classes = new long[next()][];
            for (int i = 0; i < classes.length; i++) classes[i] = states();
            kinds = new int[next()];
            for (int i = 0; i < kinds.length; i++) kinds[i] = next();
            lastConditions = new int[next()];
            last = new long[lastConditions.length][];
            for (int i = 0; i < last.length; i++) {
                lastConditions[i] = next();
                last[i] = states();
            }
            moveConditions = new int[next()];
            sources = new int[moveConditions.length];
            targets = new long[moveConditions.length][];
            for (int i = 0; i < targets.length; i++) {
                moveConditions[i] = next();
                sources[i] = next();
                targets[i] = states();
            }
        }

        private int next() { return Integer.parseInt(numbers[read++]); }

        private long[] states() {
            long[] found = new long[words];
            for (int count = next(); count > 0; count--) {
                int state = next();
                found[state / 64] |= 1L << (state % 64);
            }
            return found;
        }

        boolean matches(String text) {
            long[] current = new long[words];
            int before = -1;
            int place = 0;
            while (true) {
                int after = place < text.length() ? text.codePointAt(place) : -1;
                int holding = kinds.length == 0 ? 0 : holding(before, after);
                // State 0 is the start: a match may begin anywhere.
                current[0] |= 1L;
                for (int i = 0; i < last.length; i++) {
                    if ((lastConditions[i] & ~holding) == 0 && meet(current, last[i])) return true;
                }
                if (after < 0) return false;
                current = step(current, holding, after);
                before = after;
                place += Character.charCount(after);
            }
        }

        private static boolean meet(long[] a, long[] b) {
            for (int i = 0; i < a.length; i++) {
                if ((a[i] & b[i]) != 0) return true;
            }
            return false;
        }

        private long[] step(long[] current, int holding, int character) {
            long[][] following = following(holding);
            long[] found = new long[words];
            for (int i = 0; i < words; i++) {
                for (long left = current[i]; left != 0; left &= left - 1) {
                    long[] more = following[i * 64 + Long.numberOfTrailingZeros(left)];
                    if (more == null) continue;
                    for (int k = 0; k < words; k++) found[k] |= more[k];
                }
            }
            int border = Arrays.binarySearch(borders, character);
            long[] allowed = classes[classOf[border >= 0 ? border : -border - 2]];
            for (int k = 0; k < words; k++) found[k] &= allowed[k];
            return found;
        }

        /** The states behind each, in a gap where some conditions hold. */
        private long[][] following(int holding) {
            synchronized (moves) {
                long[][] found = (long[][]) moves.get(Integer.valueOf(holding));
                if (found != null) return found;
                found = new long[words * 64][];
                for (int i = 0; i < targets.length; i++) {
                    if ((moveConditions[i] & ~holding) != 0) continue;
                    if (found[sources[i]] == null) found[sources[i]] = new long[words];
                    for (int k = 0; k < words; k++) found[sources[i]][k] |= targets[i][k];
                }
                moves.put(Integer.valueOf(holding), found);
                return found;
            }
        }

        private int holding(int before, int after) {
            int found = 0;
            for (int i = 0; i < kinds.length; i++) {
                if (holds(kinds[i], before, after)) found |= 1 << i;
            }
            return found;
        }

        private static boolean holds(int kind, int before, int after) {
            switch (kind) {
                case 0: return before < 0;
                case 1: return after < 0;
                case 2: return before < 0 || before == '\n';
                case 3: return after < 0 || after == '\n';
                case 4: return !isWord(before) && isWord(after);
                case 5: return isWord(before) && !isWord(after);
                case 6: return isWord(before) != isWord(after);
                default: return isWord(before) == isWord(after);
            }
        }

        private static boolean isWord(int c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        }
    }

    // Times: microseconds since 1970

    static LocalDateTime civil(long us) {
        return LocalDateTime.ofEpochSecond(Math.floorDiv(us, SECOND_US), (int) (Math.floorMod(us, SECOND_US) * 1000), ZoneOffset.UTC);
    }

    /** Seconds east of UTC of a zone in POSIX's form, whose sign is west; null for anything else. */
    static Long fixedSeconds(String zone) {
        Matcher fixed = FIXED_ZONE.matcher(zone);
        if (!fixed.matches()) return null;
        long seconds = 0;
        for (int group = 2; group <= 4; group++) seconds = seconds * 60 + (fixed.group(group) == null ? 0 : Long.parseLong(fixed.group(group)));
        return fixed.group(1).equals("-") ? seconds : -seconds;
    }

    static long offsetUs(long us, String zone) {
        Long fixed = fixedSeconds(zone);
        if (fixed != null) return fixed * SECOND_US;
        Instant instant = Instant.ofEpochSecond(Math.floorDiv(us, SECOND_US));
        return ZoneId.of(zone, ZoneId.SHORT_IDS).getRules().getOffset(instant).getTotalSeconds() * SECOND_US;
    }

    /** In a gap the offset before it counts, in an overlap the one after it: the smaller one in both. */
    static long utcUs(long local, String zone) {
        Long fixed = fixedSeconds(zone);
        if (fixed != null) return local - fixed * SECOND_US;
        ZoneRules rules = ZoneId.of(zone, ZoneId.SHORT_IDS).getRules();
        LocalDateTime clock = civil(local);
        ZoneOffsetTransition change = rules.getTransition(clock);
        int seconds = change == null
            ? rules.getOffset(clock).getTotalSeconds()
            : Math.min(change.getOffsetBefore().getTotalSeconds(), change.getOffsetAfter().getTotalSeconds());
        return local - seconds * SECOND_US;
    }

    static boolean infinite(Object us) {
        return us instanceof Long && Math.abs(((Long) us).longValue()) == Long.MAX_VALUE;
    }

    /** A function of an infinite time: Long.MAX_VALUE, or the same below zero. */
    static Object infiniteTime(String name, Object[] a) {
        long us = ((Long) (a[0] instanceof Long ? a[0] : a[1])).longValue();
        switch (name) {
            case "zone_part": case "timestamp_part": return null;
            case "time_part": case "infinite_part": return Double.valueOf(us > 0 ? Double.POSITIVE_INFINITY : Double.NEGATIVE_INFINITY);
            case "date_text": case "timestamp_text": case "timestamptz_text": return us > 0 ? "infinity" : "-infinity";
            case "infinite_span": throw error("22008", "cannot subtract infinite " + a[0]);
            case "infinite_field":
                throw error("0A000", "EXTRACT(" + ((String) a[0]).toUpperCase() + ") of an infinite time is not supported yet");
            default: return Long.valueOf(us);
        }
    }

    static Object timeFunction(String name, Object[] a) {
        for (Object argument : a) {
            if (infinite(argument)) return infiniteTime(name, a);
        }
        switch (name) {
            case "infinite_span": case "infinite_field": case "infinite_part": return null;
            case "zone_local": return Long.valueOf(((Long) a[0]).longValue() + offsetUs(((Long) a[0]).longValue(), (String) a[1]));
            case "zone_utc": return Long.valueOf(utcUs(((Long) a[0]).longValue(), (String) a[1]));
            case "zone_trunc": return Long.valueOf(zoneTruncated((String) a[0], ((Long) a[1]).longValue(), (String) a[2]));
            case "zone_part": return Long.valueOf(zonePart((String) a[0], ((Long) a[1]).longValue(), (String) a[2]));
            case "timestamp_trunc": return Long.valueOf(truncated((String) a[0], ((Long) a[1]).longValue()));
            case "timestamp_part": return Long.valueOf(part((String) a[0], ((Long) a[1]).longValue()));
            case "time_part": return Double.valueOf(timePart((String) a[0], ((Long) a[1]).longValue()));
            case "date_text": return dateText(civil(((Long) a[0]).longValue()).toLocalDate(), true);
            case "timestamp_text": return timestampText(((Long) a[0]).longValue(), "");
            case "timestamptz_text": return zonedText(((Long) a[0]).longValue(), (String) a[1]);
            default: throw new IllegalStateException(name);
        }
    }

    static long subDayUs(String unit) {
        switch (unit) {
            case "microseconds": return 1;
            case "milliseconds": return 1000;
            case "second": return SECOND_US;
            case "minute": return 60 * SECOND_US;
            case "hour": return 3600 * SECOND_US;
            default: return 0;
        }
    }

    static long truncated(String unit, long us) {
        long step = subDayUs(unit);
        if (step > 0) return us - Math.floorMod(us, step);
        LocalDate day = civil(us).toLocalDate();
        int year = day.getYear();
        switch (unit) {
            case "day": break;
            case "week": day = day.minusDays(day.getDayOfWeek().getValue() - 1); break;
            case "month": day = day.withDayOfMonth(1); break;
            case "quarter": day = LocalDate.of(year, day.getMonthValue() - (day.getMonthValue() - 1) % 3, 1); break;
            case "year": day = LocalDate.of(year, 1, 1); break;
            case "decade": day = LocalDate.of(year - Math.floorMod(year, 10), 1, 1); break;
            case "century": day = LocalDate.of(year - Math.floorMod(year - 1, 100), 1, 1); break;
            case "millennium": day = LocalDate.of(year - Math.floorMod(year - 1, 1000), 1, 1); break;
            default: throw new IllegalStateException(unit);
        }
        return day.toEpochDay() * DAY_US;
    }

    static long zoneTruncated(String unit, long us, String zone) {
        long local = us + offsetUs(us, zone);
        long cut = truncated(unit, local);
        return subDayUs(unit) > 0 ? us - (local - cut) : utcUs(cut, zone);
    }

    static long part(String field, long us) {
        LocalDateTime time = civil(us);
        int year = time.getYear();
        switch (field) {
            case "microseconds": return Math.floorMod(us, 60 * SECOND_US);
            case "minute": return time.getMinute();
            case "hour": return time.getHour();
            case "day": return time.getDayOfMonth();
            case "week": return time.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR);
            case "month": return time.getMonthValue();
            case "quarter": return (time.getMonthValue() + 2) / 3;
            case "year": return year;
            case "isoyear": return time.get(IsoFields.WEEK_BASED_YEAR);
            case "decade": return Math.floorDiv(year, 10);
            case "century": return year > 0 ? (year + 99) / 100 : -((99 - (year - 1)) / 100);
            case "millennium": return year > 0 ? (year + 999) / 1000 : -((999 - (year - 1)) / 1000);
            case "doy": return time.getDayOfYear();
            case "dow": return time.getDayOfWeek().getValue() % 7;
            case "isodow": return time.getDayOfWeek().getValue();
            case "julian": return Math.floorDiv(us, DAY_US) + 2440588;
            case "epoch": return Math.floorDiv(us, SECOND_US);
            default: throw new IllegalStateException(field);
        }
    }

    static long zonePart(String field, long us, String zone) {
        long seconds = offsetUs(us, zone) / SECOND_US;
        if (field.equals("timezone")) return seconds;
        return field.equals("timezone_hour") ? seconds / 3600 : seconds / 60 % 60;
    }

    static double timePart(String field, long us) {
        double seconds = Math.floorDiv(us, SECOND_US);
        double fraction = Math.floorMod(us, SECOND_US);
        switch (field) {
            case "epoch": return us / 1e6;
            case "milliseconds": return seconds * 1e3 + fraction / 1e3;
            case "second": return seconds + fraction / 1e6;
            default: return us;
        }
    }

    static String digits(long value, int width) {
        String text = Long.toString(value);
        return text.length() >= width ? text : "0".repeat(width - text.length()) + text;
    }

    static String dateText(LocalDate day, boolean era) {
        int year = day.getYear() > 0 ? day.getYear() : 1 - day.getYear();
        String text = digits(year, 4) + "-" + digits(day.getMonthValue(), 2) + "-" + digits(day.getDayOfMonth(), 2);
        return era && day.getYear() <= 0 ? text + " BC" : text;
    }

    static String timestampText(long us, String suffix) {
        LocalDateTime time = civil(us);
        String text = dateText(time.toLocalDate(), false) + " " + digits(time.getHour(), 2) + ":" + digits(time.getMinute(), 2)
            + ":" + digits(time.getSecond(), 2);
        long fraction = Math.floorMod(us, SECOND_US);
        if (fraction != 0) {
            String figures = digits(fraction, 6);
            int end = figures.length();
            while (figures.charAt(end - 1) == '0') end--;
            text += "." + figures.substring(0, end);
        }
        return text + suffix + (time.getYear() <= 0 ? " BC" : "");
    }

    static String zonedText(long us, String zone) {
        long seconds = offsetUs(us, zone) / SECOND_US;
        long size = Math.abs(seconds);
        String offset = (seconds < 0 ? "-" : "+") + digits(size / 3600, 2);
        if (size % 3600 != 0) offset += ":" + digits(size / 60 % 60, 2);
        if (size % 60 != 0) offset += ":" + digits(size % 60, 2);
        return timestampText(us + seconds * SECOND_US, offset);
    }
}
