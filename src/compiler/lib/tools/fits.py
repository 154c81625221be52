#!/usr/bin/env python3
"""Derives every coefficient and split constant of the math library and writes ../math/coefficients.clh.

    python3 fits.py > ../math/coefficients.clh      needs python3-mpmath; takes some minutes

Each polynomial becomes a function NAME__f32 or NAME__f64 in Horner's form (even and odd halves from nine terms on, which
halves the length of the dependence). The comment above it holds the interval and the largest weighted error, as
measured after rounding the coefficients. The weights make that error relative to the function that the polynomial
serves.
"""
import sys
from minimax import *
from mpmath import mp, mpf, sqrt, sin, cos, atan, asin, atanh, log, log1p, exp, expm1, erf, erfc, pi, gamma, loggamma

EPS = mpf(10) ** -14  # stands for an end of zero, where the formulas below divide zero by zero
FORMATS = (("f32", "float", "f", 24), ("f64", "double", "", 53))


def emit(line=""):
    print(line)


def polynomial(name, what, f, weight, a, b, terms, fixed=()):
    for (tag, kind, suffix, bits), count in zip(FORMATS, terms):
        low, high = (a, b) if not isinstance(b, tuple) else (a, b[0 if bits == 24 else 1])
        coefficients, error = fit(f, weight, low, high, range(count), bits, fixed)
        text = [hexadecimal(c, suffix) for c in coefficients]
        emit()
        emit("/* %s, [%.5g, %.5g]: 2^%.1f */" % (what, low, high, error_bits(error)))
        emit("%s %s__%s(%s x) {" % (kind, name, tag, kind))
        if count >= 9:
            emit("  %s y = x * x;" % kind)
            horner(kind, "even", text[0::2], "y")
            horner(kind, "odd", text[1::2], "y")
            emit("  return odd * x + even;")
        else:
            horner(kind, "p", text, "x")
            emit("  return p;")
        emit("}")
        sys.stdout.flush()


def single(name, what, f, weight, a, b, count):
    """A polynomial for float alone."""
    coefficients, error = fit(f, weight, a, b, range(count), 24)
    emit()
    emit("/* %s, [%.5g, %.5g]: 2^%.1f */" % (what, a, b, error_bits(error)))
    emit("float %s__f32(float x) {" % name)
    horner("float", "p", [hexadecimal(c, "f") for c in coefficients], "x")
    emit("  return p;")
    emit("}")


def horner(kind, name, text, x):
    emit("  %s %s = %s;" % (kind, name, text[-1]))
    for c in reversed(text[:-1]):
        emit("  %s = %s * %s + %s;" % (name, name, x, c))


def constant(name, value, bits=(24, 53)):
    """One rounded constant."""
    for (tag, kind, suffix, full), b in zip(FORMATS, bits):
        emit("#define %s__%s %s" % (name, tag, hexadecimal(round_to(value, b), suffix)))


def split(name, value, parts):
    """value as a sum: parts[i] = bits of the i-th piece, for f32 and f64."""
    for (tag, kind, suffix, full), widths in zip(FORMATS, parts):
        rest = value
        for letter, width in zip("ABCD", widths):
            piece = round_to(rest, width)
            emit("#define %s_%s__%s %s" % (name, letter, tag, hexadecimal(piece, suffix)))
            rest -= piece


def words(name, value, count, bits, kind, suffix):
    """`count` words of the binary expansion of value < 1, after one word of zeros."""
    emit("constant %s %s[%d] = {" % (kind, name, count + 1))
    row = ["0"]
    rest = value
    for _ in range(count):
        rest = rest * 2**bits
        word = int(mp.floor(rest))
        rest -= word
        row.append("0x%0*x%s" % (bits // 4, word, suffix))
    per_line = 128 // (bits + 16)
    for i in range(0, len(row), per_line):
        emit("    " + ", ".join(row[i : i + per_line]) + ("," if i + per_line < len(row) else "};"))


def main():
    emit("/* Made by tools/fits.py, which says how; not edited by hand. */")
    emit()
    ln2 = log(mpf(2))
    log10_2 = log(mpf(2)) / log(mpf(10))
    # The high part leaves room for the exponent, so that its product with a whole number is exact.
    split("ln2", ln2, ((15, 24), (41, 53)))
    split("log10_2", log10_2, ((15, 24), (41, 53)))
    constant("log2_e", 1 / ln2)
    constant("log2_10", log(mpf(10)) / ln2)
    constant("ln10", log(mpf(10)))
    full = ((24, 24), (53, 53))
    split("inv_ln2", 1 / ln2, full)
    split("inv_ln10", 1 / log(mpf(10)), full)
    # Pieces of full width: trig.clh multiplies them with fma, whose results are exact there.
    split("pi_2", pi / 2, ((24, 24, 24), (53, 53, 53)))
    constant("ln2", ln2)
    constant("log10_2", log10_2)
    constant("two_pi_inverse", 2 / pi)
    split("pi", pi, full)
    constant("inv_pi", 1 / pi)
    constant("pi_4", pi / 4)
    constant("tan_pi_8", sqrt(mpf(2)) - 1)
    constant("half_ln_2pi", log(2 * pi) / 2)
    constant("ln_pi", log(pi))
    constant("half_log2_2pi", log(2 * pi) / ln2 / 2)
    emit()
    emit("/* The binary expansion of 2 / pi, for the reduction of large angles. */")
    mp.dps = 500
    words("two_over_pi__f32", 2 / mp.pi, 7, 32, "uint", "u")
    words("two_over_pi__f64", 2 / mp.pi, 19, 64, "ulong", "ul")
    mp.dps = 70

    half_ln2 = ln2 / 2 * mpf("1.01")
    polynomial("exp_tail", "(e^r - 1 - r) / r^2", lambda r: (expm1(r) - r) / r**2, lambda r: r**2 / expm1(r),
               -half_ln2, half_ln2, (5, 11))
    half = mpf("0.5001")
    low, high = sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1
    polynomial("atanh_tail", "(2 atanh(s) / s - 2) / z, z = s^2", lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z,
               lambda z: z * sqrt(z) / 2 / atanh(sqrt(z)), EPS, (high / (2 + high)) ** 2 * mpf("1.01"), (3, 7))
    polynomial("atanh_tail2", "(2 atanh(s) / s - 2 - 2 z / 3) / z^2, z = s^2",
               lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2 - 2 * z / 3) / z**2,
               lambda z: z**2 * sqrt(z) / 2 / atanh(sqrt(z)), EPS, (high / (2 + high)) ** 2 * mpf("1.01"), (3, 7))
    single("native_exp2_unit", "2^f", lambda f: mpf(2)**f, lambda f: mpf(2)**-f, -half, half, 6)
    single("native_log2_unit", "log2(1 + f) / f", lambda f: log1p(f) / f / ln2, lambda f: f * ln2 / log1p(f), low, high, 8)
    log_tail = lambda f: (log1p(f) - f + f * f / 2) / f**3
    single("log_tail", "(ln(1 + f) - f + f^2 / 2) / f^3", log_tail, lambda f: f**3 / log1p(f), low, high, 8)

    quarter = (pi / 4 * mpf("1.02")) ** 2
    polynomial("sin_tail", "(sin(r) / r - 1) / z, z = r^2", lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z,
               lambda z: z * sqrt(z) / sin(sqrt(z)), EPS, quarter, (3, 6))
    polynomial("cos_tail", "(cos(r) - 1 + z / 2) / z^2, z = r^2", lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2,
               lambda z: z**2, EPS, quarter, (3, 6))
    polynomial("atan_tail", "(atan(t) / t - 1) / z, z = t^2", lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z,
               lambda z: z * sqrt(z) / atan(sqrt(z)), EPS, (sqrt(mpf(2)) - 1) ** 2 * mpf("1.01"), (5, 11))
    polynomial("asin_tail", "(asin(s) / s - 1) / z, z = s^2", lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z,
               lambda z: z * sqrt(z) / asin(sqrt(z)), EPS, mpf("0.2501"), (6, 12))

    erf_over_x = lambda z: erf(sqrt(z)) / sqrt(z)
    polynomial("erf_small", "erf(x) / x, z = x^2", erf_over_x, lambda z: 1 / erf_over_x(z), EPS, mpf(1), (7, 13))

    scaled = lambda a: erfc(a) * exp(a * a) * (1 + 2 * a)
    for tag, kind, suffix, bits, count, c, end in (("f32", "float", "f", 24, 10, mpf(2), mpf("10.5")),
                                                   ("f64", "double", "", 53, 22, mpf(3), mpf("27.5"))):
        f = lambda u: scaled(c * (1 + u) / (1 - u))
        start = mpf("0.5")
        coefficients, error = fit(f, lambda u: 1 / f(u), (start - c) / (start + c), (end - c) / (end + c),
                                  range(count), bits)
        text = [hexadecimal(x, suffix) for x in coefficients]
        emit()
        emit("/* erfc(a) e^(a^2) (1 + 2 a) of u = (a - %d) / (a + %d), a in [0.5, %s]: 2^%.1f */" %
             (int(c), int(c), end, error_bits(error)))
        emit("#define erfc_center__%s %s" % (tag, hexadecimal(c, suffix)))
        emit("%s erfc_scaled__%s(%s x) {" % (kind, tag, kind))
        emit("  %s y = x * x;" % kind)
        horner(kind, "even", text[0::2], "y")
        horner(kind, "odd", text[1::2], "y")
        emit("  return odd * x + even;")
        emit("}")

    polynomial("gamma_unit", "gamma(2 + t)", lambda t: gamma(2 + t), lambda t: 1 / gamma(2 + t), mpf(0), mpf(1), (9, 18))
    lower, upper = mpf("-0.5"), mpf(1)
    polynomial("lgamma_unit", "ln(gamma(2 + t)) / t", lambda t: loggamma(2 + t) / t, lambda t: t / loggamma(2 + t),
               lower, upper, (11, 23))
    # ln gamma(x) = (x - 1/2) ln x - x + ln(2 pi) / 2 + stirling(1/x^2) / x from x = 3 (f32) and 7 (f64) on.
    stirling = lambda w: (loggamma(1 / sqrt(w)) - (1 / sqrt(w) - mpf(1) / 2) * log(1 / sqrt(w)) + 1 / sqrt(w)
                          - log(2 * pi) / 2) / sqrt(w)
    polynomial("stirling_tail", "ln(gamma(x)) x - ((x - 1/2) ln x - x + ln(2 pi) / 2) x, w = 1 / x^2", stirling,
               lambda w: sqrt(w), mpf(10) ** -7, (mpf(1) / 9, mpf(1) / 49), (4, 8))


main()
