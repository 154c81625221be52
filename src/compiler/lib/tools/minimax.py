"""Minimax polynomials by Remez' exchange, with coefficients rounded to a floating-point format.

fit() finds the polynomial of given powers that minimises max |(p(x) - f(x)) * weight(x)| on an interval. The
coefficients are then rounded one by one from the lowest power, and after each rounding the rest is fitted again, so that
the higher coefficients make up for what rounding took. All arithmetic is mpmath's with 70 digits.
"""
from mpmath import mp, mpf, matrix, lu_solve, cos, pi, log

mp.dps = 70


def round_to(value, bits):
    """The nearest number with `bits` significant bits (exponents unbounded)."""
    if value == 0:
        return mpf(0)
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), exponent - bits)


def grid(a, b, count):
    """Chebyshev points, which are dense at the ends."""
    return [(a + b) / 2 - (b - a) / 2 * cos(pi * (2 * i + 1) / (2 * count)) for i in range(count)]


def evaluate(coefficients, powers, x):
    return sum(c * x**p for c, p in zip(coefficients, powers))


def extrema(errors, wanted):
    """Indices of alternating extrema: the largest of each run of one sign; then the best `wanted` neighbours."""
    runs = []
    for i, e in enumerate(errors):
        if runs and (errors[runs[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[runs[-1]]):
                runs[-1] = i
        else:
            runs.append(i)
    while len(runs) > wanted:
        if len(runs) == wanted + 1 or abs(errors[runs[0]]) < abs(errors[runs[-1]]):
            runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
        else:
            runs.pop()
    return runs


def remez(xs, values, weights, table):
    """The best coefficients on the grid; table[i][j] is xs[i] to the power j."""
    n = len(table[0])
    count = len(xs)
    nodes = [min(count - 1, int(count * (i + 0.5) / (n + 1))) for i in range(n + 1)]
    best, best_error = None, None
    for _ in range(30):
        system, right = matrix(n + 1, n + 1), matrix(n + 1, 1)
        for row, i in enumerate(nodes):
            for j in range(n):
                system[row, j] = table[i][j]
            system[row, n] = (-1) ** row / weights[i]
            right[row] = values[i]
        solution = lu_solve(system, right)
        coefficients = [solution[j] for j in range(n)]
        errors = [(sum(c * t for c, t in zip(coefficients, table[i])) - values[i]) * weights[i] for i in range(count)]
        worst = max(abs(e) for e in errors)
        if best_error is None or worst < best_error:
            best, best_error = coefficients, worst
        if worst <= abs(solution[n]) * mpf("1.0005"):
            break
        found = extrema(errors, n + 1)
        if len(found) < n + 1:
            break
        nodes = found
    return best


def fit(f, weight, a, b, powers, bits, fixed=()):
    """Rounded coefficients and the largest weighted error. `bits` is a number or one for each coefficient;
    `fixed` gives the first coefficients."""
    a, b = mpf(a), mpf(b)
    if isinstance(bits, int):
        bits = [bits] * len(powers)
    xs = grid(a, b, 24 * (len(powers) + 2))
    weights = [abs(weight(x)) for x in xs]
    rest = [f(x) for x in xs]
    table = [[x**p for p in powers] for x in xs]

    def worst(tail, k):
        return max(abs(sum(c * t for c, t in zip(tail, row[k:])) - r) * w for row, r, w in zip(table, rest, weights))

    coefficients = [mpf(c) for c in fixed]
    for k, c in enumerate(coefficients):
        rest = [r - c * row[k] for r, row in zip(rest, table)]
    tail = None
    for k in range(len(coefficients), len(powers)):
        again = remez(xs, rest, weights, [row[k:] for row in table])
        # Powers that all vanish inside the interval have no alternation theorem: then the old tail may be better.
        if tail is None or worst(again, k) < worst(tail, k):
            tail = again
        c = round_to(tail[0], bits[k])
        tail = tail[1:]
        coefficients.append(c)
        rest = [r - c * row[k] for r, row in zip(rest, table)]
    error = max(abs(r) * w for r, w in zip(rest, weights))
    return coefficients, error


def hexadecimal(value, suffix):
    """A C hexadecimal constant; the value must be a number of at most 53 bits."""
    number = float(value)
    if mpf(number) != value:
        raise ValueError("%s is not a double" % value)
    text = number.hex()
    head, exponent = text.split("p")
    if "." in head:
        head = head.rstrip("0").rstrip(".")
    return "%sp%s%s" % (head, exponent, suffix)


def error_bits(error):
    return float(log(error, 2)) if error else -999.0
