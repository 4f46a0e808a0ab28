# SPDX-License-Identifier: BSD-2-Clause
"""y = 2 x + y in memory of the program, with x = 0, 1, ..., n - 1 and y = 1.

The sum of the result is n (n - 1) + n = n^2.
"""

import sys

import numpy as np

import pyceedlike

n = 1000
values = np.ones(n)
ceed = pyceedlike.Ceed()
x, y = ceed.Vector(n), ceed.Vector(n)
with x.array_write() as a:
    a[:] = np.arange(n)
y.set_array(values, cmode=pyceedlike.USE_POINTER)
y.axpy(2.0, x)
total = y.norm(pyceedlike.NORM_1)
good = total == n**2 and values[-1] == 2 * n - 1
print(f"sum {total:.0f}, expected {n**2}: {'good' if good else 'WRONG'}")
sys.exit(not good)
