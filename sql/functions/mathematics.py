"""Mathematical functions beyond arithmetic and rounding."""

from __future__ import annotations

import math

from sql.functions.rows import Function, Kernel

FUNCTIONS = (
    Function(
        "sqrt", "sqrt |/", "float8 > float8; sqrt: numeric > numeric", ("sqrt(2)", "1.4142135623730951"),
        kernel={"float8": Kernel("numbers.floats.square_root", fallible=True)},
        python={"numeric": "math.sqrt"}, special="square_root",
    ),
    Function(
        "cbrt", "cbrt ||/", "float8 > float8", ("cbrt(27.0)", "3.0000000000000004"),
        kernel={"float8": Kernel("numbers.trigonometry.cbrt", fallible=True)},
    ),
    Function(
        "exp", "exp", "float8 > float8; numeric > numeric", ("exp(1.0)", "2.7182818284590452"),
        kernel={"float8": Kernel("numbers.floats.exponential", fallible=True)},
        python={"numeric": "math.exp"}, special="exponential",
    ),
    Function(
        "ln", "ln", "float8 > float8; numeric > numeric", ("ln(2.0)", "0.6931471805599453"),
        kernel={"float8": Kernel("numbers.floats.natural_logarithm", fallible=True)},
        python={"numeric": "math.ln"}, special="logarithm",
    ),
    Function(
        "log10", "log log10", "float8 > float8; numeric > numeric", ("log(100.0)", "2.0000000000000000"),
        kernel={"float8": Kernel("numbers.trigonometry.log10", fallible=True)},
        python={"numeric": "math.numeric_log10"}, special="logarithm",
    ),
    Function(
        "log", "log", "numeric numeric > numeric", ("log(2.0, 64.0)", "6.0000000000000000"), python="math.log",
        special="log",
    ),
    Function(
        "power", "power pow ^", "float8 float8 > float8; numeric numeric > numeric",
        ("power(9.0, 3.0)", "729.0000000000000000"),
        kernel={"float8": Kernel("numbers.floats.power", fallible=True)},
        python={"numeric": "math.power"}, special="power",
    ),
    Function("pi", "pi", "> float8", ("pi()", "3.141592653589793"), strict=False, duckdb="pi()", kernel=repr(math.pi)),
    Function(
        "degrees", "degrees", "float8 > float8", ("degrees(0.5)", "28.64788975654116"),
        kernel={"float8": Kernel("numbers.trigonometry.degrees", fallible=True)},
    ),
    Function(
        "radians", "radians", "float8 > float8", ("radians(45.0)", "0.7853981633974483"),
        kernel={"float8": Kernel("numbers.trigonometry.radians", fallible=True)},
        duckdb="float8_multiply({0}, CAST('0.017453292519943295' AS DOUBLE))",
    ),
    Function(
        "sin", "sin", "float8 > float8", ("sin(1)", "0.8414709848078965"),
        kernel={"float8": Kernel("numbers.trigonometry.sin", fallible=True)},
    ),
    Function(
        "cos", "cos", "float8 > float8", ("cos(1)", "0.5403023058681398"),
        kernel={"float8": Kernel("numbers.trigonometry.cos", fallible=True)},
    ),
    Function(
        "tan", "tan", "float8 > float8", ("tan(1)", "1.5574077246549023"),
        kernel={"float8": Kernel("numbers.trigonometry.tan", fallible=True)},
    ),
    Function(
        "cot", "cot", "float8 > float8", ("cot(1)", "0.6420926159343306"),
        kernel={"float8": Kernel("numbers.trigonometry.cot", fallible=True)},
    ),
    Function(
        "asin", "asin", "float8 > float8", ("asin(0.5)", "0.5235987755982989"),
        kernel={"float8": Kernel("numbers.trigonometry.asin", fallible=True)},
    ),
    Function(
        "acos", "acos", "float8 > float8", ("acos(0.5)", "1.0471975511965979"),
        kernel={"float8": Kernel("numbers.trigonometry.acos", fallible=True)},
    ),
    Function(
        "atan", "atan", "float8 > float8", ("atan(1)", "0.7853981633974483"),
        kernel={"float8": Kernel("numbers.trigonometry.atan", fallible=True)}, duckdb="atan({0})",
    ),
    Function(
        "sinh", "sinh", "float8 > float8", ("sinh(1)", "1.1752011936438014"),
        kernel={"float8": Kernel("numbers.trigonometry.sinh", fallible=True)},
    ),
    Function(
        "cosh", "cosh", "float8 > float8", ("cosh(1)", "1.5430806348152437"),
        kernel={"float8": Kernel("numbers.trigonometry.cosh", fallible=True)},
    ),
    Function(
        "tanh", "tanh", "float8 > float8", ("tanh(1)", "0.7615941559557649"),
        kernel={"float8": Kernel("numbers.trigonometry.tanh", fallible=True)}, duckdb="tanh({0})",
    ),
    Function(
        "atan2", "atan2", "float8 float8 > float8", ("atan2(1, 2)", "0.4636476090008061"),
        kernel={"float8": Kernel("numbers.trigonometry.atan2", fallible=True)}, duckdb="atan2({0}, {1})",
    ),
    Function(
        "width_bucket", "width_bucket", "float8 float8 float8 int4 > int4; numeric numeric numeric int4 > int4",
        ("width_bucket(5.35, 0.024, 10.06, 5)", "3"),
        kernel={"float8": Kernel("numbers.floats.width_bucket", fallible=True)},
        python={"numeric": "math.numeric_width_bucket"}, special="width_bucket",
    ),
    *(
        Function(
            name, name, "float8 float8 > float8" if name == "atan2d" else "float8 > float8", (example, answer),
            kernel={"float8": Kernel(f"numbers.degrees.{name}", fallible=True)},
        )
        for name, example, answer in (
            ("sind", "sind(30)", "0.5"), ("cosd", "cosd(60)", "0.5"), ("tand", "tand(45)", "1"),
            ("cotd", "cotd(45)", "1"), ("asind", "asind(0.5)", "30"), ("acosd", "acosd(-0.5)", "120"),
            ("atand", "atand(1)", "45"), ("atan2d", "atan2d(1, -1)", "135"), ("asinh", "asinh(1)", "0.881373587019543"),
            ("acosh", "acosh(2)", "1.3169578969248166"), ("atanh", "atanh(0.5)", "0.5493061443340548"),
        )
    ),
)  # fmt: skip
