#!/usr/bin/env python3
"""Fits the polynomials of shaders/prelude/f32/gamma.wgsl and f64/gamma.wgsl, and prints them as
WGSL with their greatest relative error. Needs mpmath.

lgamma(2 + t) = t (1 - euler) + t^2 Q(t) for |t| <= 1/2, where Q is interpolated at Chebyshev's
points and its coefficients are rounded to the type.
"""
import struct

from mpmath import cos, euler, loggamma, lu_solve, matrix, mp, mpf, nstr, pi, polyval, zeta

mp.prec = 400


def tail(t):
    if abs(t) < mpf(10) ** -12:
        return (zeta(2) - 1) / 2
    return (loggamma(2 + t) - t * (1 - euler)) / t**2


def fit(degree):
    points = [cos(pi * (2 * k + 1) / (2 * degree + 2)) / 2 for k in range(degree + 1)]
    powers = matrix([[t**j for j in range(degree + 1)] for t in points])
    return list(lu_solve(powers, matrix([tail(t) for t in points])))


def as_f32(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


for name, degree, rounded, suffix in [("f32", 8, as_f32, ""), ("f64", 20, float, "lf")]:
    coefficients = [rounded(c) for c in fit(degree)]
    worst = mpf(0)
    for i in range(1000):
        t = mpf(2 * i + 1) / 2000 - mpf(1) / 2
        worst = max(worst, abs(t * t * (polyval(coefficients[::-1], t) - tail(t)) / loggamma(2 + t)))
    digits = (lambda c: f"{c:.9g}") if name == "f32" else repr
    print(f"    // {nstr(worst, 2)} of the value at most.")
    print(f"    var q = vec4<{name}>({digits(coefficients[-1])}{suffix});")
    for c in coefficients[-2::-1]:
        print(f"    q = q * t {'-' if c < 0 else '+'} {digits(abs(c))}{suffix};")
